# Bash completion for saltus, from `saltus help --format bash`.

# The words that may stand at a place, given as "COMMAND options" (or "COMMAND flags", those without
# a value), "COMMAND --option", "COMMAND 1" (its first argument) or "settings NAME". Among them
# FILES: files may, too; SPECIFICATION: settings may follow after ':'; LIST: several, with commas.
_saltus_words() {
    case $1 in
@places@
    esac
}

# Print the words of $2.. that begin with $1, and files if FILES is one of them.
_saltus_match() {
    local word begin=$1
    shift
    for word; do
        if [[ $word == FILES ]]; then
            compgen -f -- "$begin"
        elif [[ $word == "$begin"* && $word != LIST && $word != SPECIFICATION ]]; then
            printf '%s\n' "$word"
        fi
    done
}

# What the word being completed stands for, from the words before it.
_saltus_place() {
    local command=$1 word option='' argument=1
    shift
    for word; do
        if [[ $option ]]; then
            option=''
        elif [[ $word == --*=* || " $(_saltus_words "$command flags") " == *" $word "* ]]; then
            continue
        elif [[ $word == --* ]]; then
            option=$word
        else
            ((argument++))
        fi
    done
    printf '%s %s' "$command" "${option:-$argument}"
}

_saltus() {
    local line=${COMP_LINE:0:COMP_POINT} words current place list head='' breaks='' nl=$'\n'
    # Bash breaks words at '=' and ':'; here they are whole.
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    current=${words[-1]}
    unset 'words[-1]'
    COMPREPLY=()

    if ((${#words[@]} < 2)); then
        place='commands'
    else
        place=$(_saltus_place "${words[@]:1}")
        if [[ $place == *' --'* ]]; then
            :
        elif [[ $current == --*=* ]]; then
            place="${words[1]} ${current%%=*}"
            head=${current%%=*}=
        elif [[ $current == -* ]]; then
            place="${words[1]} options"
        fi
    fi
    list=$(_saltus_words "$place")

    local value=${current#"$head"}
    if [[ $list == *LIST* && $value == *,* ]]; then
        head+=${value%,*},
    elif [[ $list == *SPECIFICATION* && $value == *[:,]file=* ]]; then
        head+=${value%%file=*}file=
        list=FILES
    elif [[ $list == *SPECIFICATION* && $value == *:* ]]; then
        list=$(_saltus_words "settings ${value%%:*}")
        head+=${value%"${value##*[:,]}"}
    fi
    value=${current#"$head"}

    if [[ $list == *FILES* && $value == '~'* ]]; then
        compopt -o default 2>/dev/null
        return
    fi
    local IFS=$nl
    COMPREPLY=($(IFS=' '; _saltus_match "$value" $list))
    [[ $list == *FILES* ]] && compopt -o filenames 2>/dev/null
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null

    # What Bash replaces is only what follows its last break.
    [[ $COMP_WORDBREAKS == *=* ]] && breaks+==
    [[ $COMP_WORDBREAKS == *:* ]] && breaks+=:
    if [[ $breaks ]]; then
        local before=${current%"${current##*[$breaks]}"}
        COMPREPLY=("${COMPREPLY[@]/#/$head}")
        COMPREPLY=("${COMPREPLY[@]#"$before"}")
    else
        COMPREPLY=("${COMPREPLY[@]/#/$head}")
    fi
}

complete -F _saltus saltus
