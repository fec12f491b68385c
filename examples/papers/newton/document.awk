# A document about several topics, and a reference summary with a sentence on each:
#
#     awk -v seed=1 -v sentences=30 -v topics=6 -v reference=FILE -f document.awk > DOCUMENT
#
# A topic is a cycle of made-up words. A sentence walks along its topic's cycle, skips words now and
# then, and strays into other topics: sentences on a topic share words and pairs of words.

# The next number below n, of Park and Miller's generator: the same in every awk.
function below(n) {
    state = (state * 16807) % 2147483647
    return int(state / 2147483647 * n)
}

function word(topic, k) {
    return substr("bdfgkl", topic % 6 + 1, 1) substr("aeiou", k % 5 + 1, 1) \
        substr("mnprst", int(k / 5) % 6 + 1, 1) substr("aou", int(topic / 6) % 3 + 1, 1) "k"
}

function sentence(topic, words, stray,    k, n, text) {
    k = below(20)
    for (n = 0; n < words; n++) {
        text = text (n ? " " : "The ") word(below(100) < stray ? below(topics) : topic, k % 20)
        k += below(100) < 80 ? 1 : 2 + below(5)
    }
    return text "."
}

BEGIN {
    state = seed * 7919 + 1
    for (n = 0; n < 10; n++) {
        below(2)
    }
    for (n = 0; n < sentences; n++) {
        print sentence(below(topics), 6 + below(8), 30)
    }
    for (n = 0; n < topics; n++) {
        print sentence(n, 10, 0) > reference
    }
}

# SPDX-License-Identifier: MIT
