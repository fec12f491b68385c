/* SPDX-License-Identifier: MIT */
/* Formats of alignments: plain lines, FASTA with a2m and a3m, Stockholm. */
#include "temp_dir.h"

#include "alloc_fail.h"
#include "io/format.h"
#include "models/alphabet.h"
#include "models/zoo/alignment_rows.h"

static const sali_format *const formats[] = { &sali_format_aln, &sali_format_fasta,
                                              &sali_format_stockholm };
#define FORMATS ((int)(sizeof formats / sizeof *formats))

static sal_status parse_text(const sali_format *format, const char *text, sali_content *out,
                             sal_error *err)
{
    return sali_format_parse(format, "f", text, (int64_t)strlen(text), out, err);
}

/* The rows as text, one a line, names before if there are any: "x AC-\ny A-D\n". */
static const char *shown(const sali_content *content)
{
    static char text[1000];
    const sali_alignment *a = &content->alignment;
    size_t n = 0;
    ck_assert_int_eq(content->kind, SALI_CONTENT_ALIGNMENT);
    for (int64_t r = 0; r < a->sequences; r++) {
        n += (size_t)(a->names ? sprintf(text + n, "%s ", a->names[r]) : 0);
        for (int64_t i = 0; i < a->length; i++) {
            text[n++] = a->alphabet[a->codes[r * a->length + i]];
        }
        text[n++] = '\n';
    }
    text[n] = '\0';
    return text;
}

static const char stockholm[] =
    "# STOCKHOLM 1.0\n#=GF ID x\n\nx/1-3  AC.E\n#=GR x SS HHHH\n"
    "y      A-kE\n#=GC RF xx.x\n\nx/1-3  CC\ny      WY\n#=GC RF xx\n//\n";

START_TEST(dialects_are_read)
{
    static const struct {
        const sali_format *format;
        const char *text, *want;
    } cases[] = {
        { &sali_format_aln, "ACDEFGHIKLMNPQRSTVWY-", "ACDEFGHIKLMNPQRSTVWY-\n" },
        { &sali_format_aln,
          "\xef\xbb\xbf"
          "AC-\r\n\r\nA.D\r\n",
          "AC-\nA-D\n" },
        { &sali_format_aln, "# PSICOV\nx AC-\ny\tADD", "x AC-\ny ADD\n" },
        { &sali_format_aln, "BJOUXZ*~-.A\n", "----------A\n" },
        { &sali_format_fasta, ">x one\nAC\n-\n>y\nA\n\nDE\n", "x AC-\ny ADE\n" },
        { &sali_format_fasta, ";c\r\n>x\r\nAC DE\r\n;c\r\n> y z\r\nA.DE*\r\n",
          NULL }, /* 4 letters and 5 */
        { &sali_format_fasta, ">\nAC\n>a\nCA", " AC\na CA\n" },
        /* a2m: insertions are lower case, or '.' where other sequences have them */
        { &sali_format_fasta, ">x\nAC..-E\n>y\nA-kwDE\n", "x AC-E\ny A-DE\n" },
        /* a3m: without the dots */
        { &sali_format_fasta, ">x\nAC-E\n>y\nA-kwDE\n", "x AC-E\ny A-DE\n" },
        /* a3m of HH-suite: comments and structure */
        { &sali_format_fasta, "#4 1\n>ss_pred x\nHHHH\n>ss_conf\n9921\n>x\nAC-E\n>ss\nA-DE\n",
          "x AC-E\nss A-DE\n" },
        /* no insertions: dots are gaps */
        { &sali_format_fasta, ">x\nAC..\n>y\nA-DE\n", "x AC--\ny A-DE\n" },
        { &sali_format_stockholm, "\n# STOCKHOLM 1.0\nx AC\ny CA\n//\n\n", "x AC\ny CA\n" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx AC\ny CA\nx D E\ny FG\nx H\ny I\n//",
          "x ACDEH\ny CAFGI\n" },
        { &sali_format_stockholm, stockholm, "x/1-3 ACECC\ny A-EWY\n" },
        /* marks decide against the case: letters are aligned, whatever they are */
        { &sali_format_stockholm,
          "# STOCKHOLM 1.0\nx AC.eK\ny A-kDM\n#=GC SS_cons <<>>.\n#=GC RF  Xg~x-\n//\n",
          "x ACE\ny A-D\n" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx a.\ny -k\n#=GC RF x A\n//\n",
          "x A-\ny -K\n" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx AC\ny CA\n#=GC RFX x\n#=GR x RF .\n//\n",
          "x AC\ny CA\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        sal_status status = parse_text(cases[i].format, cases[i].text, &content, &err);
        if (cases[i].want) {
            ck_ok(status, &err);
            ck_assert_str_eq(shown(&content), cases[i].want);
        } else {
            ck_assert_int_eq(status, SAL_ERR_DATA);
        }
        sali_content_free(&content);
    }
}
END_TEST

START_TEST(bad_files_are_refused)
{
    static const struct {
        const sali_format *format;
        const char *text, *message;
    } cases[] = {
        { &sali_format_aln, "", "f: there are no sequences" },
        { &sali_format_aln, "\n#x\n", "f: there are no sequences" },
        { &sali_format_aln, "AC\nACD\n",
          "f:2: sequence 2 has 3 aligned letters; expected 2, as in the first, at line 1" },
        { &sali_format_aln, "AC\n\nacd\n",
          "f:3: sequence 2 has 0 aligned letters; expected at least "
          "1 (lower case and '.' are insertions" },
        { &sali_format_aln, "AC\nA1\n", "f:2: sequence 2 has the character '1'; expected letters" },
        { &sali_format_aln, "x AC\nAC\n", "f:2: expected a name and a sequence, as in the first" },
        { &sali_format_aln, "AC\nx AC\n", "f:2: expected a sequence without a name" },
        { &sali_format_aln, "x AC 3\n", "f:1: expected a sequence, or a name and a sequence" },
        { &sali_format_aln, "CLUSTAL W (1.8)\n\nx AC\n", "f:1: a file of Clustal; expected" },
        { &sali_format_fasta, ">ss_pred\nHH\n", "f: there are no sequences" },
        { &sali_format_fasta, "AC\n", "f:1: expected '>' and the name of a sequence" },
        { &sali_format_fasta, ">x\n>y\nAC", "f:1: sequence 1 ('x') has 0 aligned letters" },
        { &sali_format_fasta, ">x\nAC\n>y\nA\nCD\n",
          "f:3: sequence 2 ('y') has 3 aligned letters; expected 2, as in the first, at line 1" },
        { &sali_format_fasta, ">x\nAC\n>y\nAdC.C\n",
          "expected 2, as in the first, at line 1 (lower case and '.' are insertions" },
        { &sali_format_fasta, ">x\nAC\n>y\n\nA@\n", "f:5: sequence 2 ('y') has the character '@'" },
        { &sali_format_fasta, ">\x01\nAC\n>y\nA", "sequence 2 ('y') has 1 aligned" },
        { &sali_format_stockholm, "", "f:1: expected # STOCKHOLM 1.0" },
        { &sali_format_stockholm, "\n\nx AC\n//", "f:3: expected # STOCKHOLM 1.0" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\n//", "f: there are no sequences" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx AC\n", "f:2: expected // at the end" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx AC\n#=GC RF xxx\n//\n",
          "f:3: the marks of aligned columns (RF) have 3 columns; expected 2" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx AC\n#=GC RF xx\n\nx A\n//\n",
          "f:3: the marks of aligned columns (RF) have 2 columns; expected 3" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx AC\n#=GC RF\n//\n",
          "f:3: the marks of aligned columns (RF) have 0 columns; expected 2" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx AC\n#=GC RF ..\n//\n",
          "f:3: the marks of aligned columns (RF) have no letter" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx AC\ny A\n#=GC RF xx\n//\n",
          "f:3: sequence 2 ('y') has 1 aligned letters; expected 2" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\n#=GC RF xx\n//\n",
          "f: there are no sequences" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx AC\ny CA\n\ny A\nx C\n//",
          "f:5: expected the next letters of 'x', found 'y'; blocks" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx AC\ny CA\n\nx A\n//",
          "f:6: the block ends after 1 sequences; expected 2" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx AC\ny CA\n\nx A\n\ny C\n//",
          "f:6: the block ends after 1 sequences; expected 2" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx AC\n//\n# STOCKHOLM 1.0\nx A\n//\n",
          "f:4: expected nothing after //" },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx AC\ny CA\n\nx A\ny\n//\n",
          "f:3: sequence 2 ('y') has 2 aligned letters; expected 3, as in the first, at line 2" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        ck_fails(parse_text(cases[i].format, cases[i].text, &content, &err), SAL_ERR_DATA, &err,
                 cases[i].message);
        ck_assert_int_eq(content.kind, SALI_CONTENT_NONE);
    }
}
END_TEST

START_TEST(lower_case_is_aligned_unless_match_columns_are_equal)
{
    static const struct {
        const sali_format *format;
        const char *text, *want;
        sali_letter_case letter_case;
        int64_t insertions;
    } cases[] = {
        /* as MAFFT writes nucleotides: '.' is a gap as well */
        { &sali_format_fasta, ">a\nacgu-a\n>b\nac.u-g\n", "a ACGU-A\nb AC-U-G\n", SALI_CASE_LOWER,
          0 },
        { &sali_format_aln, "mkv\nm-v\n", "MKV\nM-V\n", SALI_CASE_LOWER, 0 },
        /* masked letters of one row: a dropped column of one row would shift the others */
        { &sali_format_fasta, ">a\nMkvLA\n>b\nMKVLA\n", "a MKVLA\nb MKVLA\n", SALI_CASE_MIXED, 0 },
        { &sali_format_stockholm, "# STOCKHOLM 1.0\nx Mk.\ny MKV\n//\n", "x MK-\ny MKV\n",
          SALI_CASE_MIXED, 0 },
        /* equally many match columns: a2m, with and without the dots of other rows */
        { &sali_format_fasta, ">a\nMKw.L\n>b\nM-.kL\n", "a MKL\nb M-L\n", SALI_CASE_INSERTIONS, 2 },
        { &sali_format_fasta, ">a\nMKwwL\n>b\nM-L\n", "a MKL\nb M-L\n", SALI_CASE_INSERTIONS, 2 },
        { &sali_format_aln, "MK.\nMKV\n", "MK-\nMKV\n", SALI_CASE_INSERTIONS, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        ck_ok(parse_text(cases[i].format, cases[i].text, &content, &err), &err);
        ck_assert_str_eq(shown(&content), cases[i].want);
        ck_assert_int_eq(content.alignment.letter_case, cases[i].letter_case);
        ck_assert_int_eq(content.alignment.insertions, cases[i].insertions);
        sali_content_free(&content);
    }
    sal_error err = { 0 };
    sali_content content = { 0 };
    ck_fails(parse_text(&sali_format_fasta, ">a\nacgu\n>b\nacg\n", &content, &err), SAL_ERR_DATA,
             &err, "sequence 2 ('b') has 3 aligned letters; expected 4");
}
END_TEST

/* The remark on a text, by the rules; the sequences that are left are `shown`. */
static sali_remark prepare(const char *text, sali_alignment_rules rules, const char *want)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    sali_remark remark = { 0 };
    ck_ok(parse_text(&sali_format_aln, text, &content, &err), &err);
    sali_content view = { .kind = SALI_CONTENT_ALIGNMENT, .alignment = content.alignment };
    ck_ok(sali_alignment_prepare(&view.alignment, &rules, &remark, &err), &err);
    ck_assert_str_eq(shown(&view), want);
    sali_content_free(&content);
    return remark;
}

START_TEST(a_remark_says_the_size_and_what_was_dropped)
{
    /* rows 2, 5 and 6 have X or B; row 3 equals the first; row 4 equals row 2 where X is a gap */
    static const char text[] = "MKVA\nMKVX\nMKVA\nMKV-\nBKXA\nMKVX\n";
    static const struct {
        sali_alignment_rules rules;
        const char *want, *remark;
    } cases[] = {
        { { 0 },
          "MKVA\nMKV-\nMKVA\nMKV-\n-K-A\nMKV-\n",
          "6 sequences of 4 sites (protein); 4 letters in 3 sequences are outside the alphabet and "
          "count as gaps (unknown=drop leaves these sequences out)" },
        { { .unknown = SAL_UNKNOWN_DROP },
          "MKVA\nMKVA\nMKV-\n",
          "3 sequences of 4 sites (protein); 3 sequences with letters outside the alphabet were "
          "dropped" },
        { { .unknown = SAL_UNKNOWN_DROP, .duplicates = SAL_DUPLICATES_DROP },
          "MKVA\nMKV-\n",
          "2 sequences of 4 sites (protein); 3 sequences with letters outside the alphabet were "
          "dropped; 1 sequences that equal an earlier one were dropped" },
        { { .duplicates = SAL_DUPLICATES_DROP },
          "MKVA\nMKV-\n-K-A\n",
          "3 sequences of 4 sites (protein); 4 letters in 3 sequences are outside the alphabet and "
          "count as gaps (unknown=drop leaves these sequences out); 3 sequences that equal an "
          "earlier one were dropped" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sali_remark remark = prepare(text, cases[i].rules, cases[i].want);
        ck_assert_str_eq(remark.text, cases[i].remark);
        ck_assert(remark.warns);
        sali_remark_free(&remark);
    }
    sali_remark plain = prepare("MKVA\nMKV-\n", (sali_alignment_rules){ 0 }, "MKVA\nMKV-\n");
    ck_assert_str_eq(plain.text, "2 sequences of 4 sites (protein)");
    ck_assert(!plain.warns);
    sali_remark_free(&plain);
    /* a stop codon is a letter that no alphabet has, and ~ is a gap */
    sali_remark stop = prepare("MKV*\nMK~-\n", (sali_alignment_rules){ 0 }, "MKV-\nMK--\n");
    ck_assert_str_eq(stop.text, "2 sequences of 4 sites (protein); 1 letters in 1 sequences are "
                                "outside the alphabet and count as gaps (unknown=drop leaves these "
                                "sequences out)");
    sali_remark_free(&stop);
    stop = prepare("MKV*\nMK~-\n", (sali_alignment_rules){ .unknown = SAL_UNKNOWN_DROP }, "MK--\n");
    ck_assert_str_eq(stop.text, "1 sequences of 4 sites (protein); 1 sequences with letters "
                                "outside the alphabet were dropped");
    sali_remark_free(&stop);
    sali_remark lower = prepare("acgu\nac-u\n", (sali_alignment_rules){ 0 }, "ACGU\nAC-U\n");
    ck_assert_ptr_nonnull(strstr(lower.text, "(RNA); no letter is in upper case"));
    ck_assert(lower.warns);
    sali_remark_free(&lower);
    sal_error err = { 0 };
    sali_content content = { 0 };
    ck_ok(parse_text(&sali_format_stockholm, stockholm, &content, &err), &err);
    sali_remark marked = { 0 };
    ck_ok(sali_alignment_remark(&content.alignment, &marked, &err), &err);
    ck_assert_str_eq(marked.text,
                     "2 sequences of 5 sites (protein); the line RF says which columns are "
                     "aligned; 1 letters in other columns are insertions and were dropped");
    ck_assert(marked.warns);
    sali_remark_free(&marked);
    sali_content_free(&content);
    ck_ok(parse_text(&sali_format_aln, "MX\nXK\n", &content, &err), &err);
    ck_fails(sali_alignment_prepare(&content.alignment,
                                    &(sali_alignment_rules){ .unknown = SAL_UNKNOWN_DROP }, &plain,
                                    &err),
             SAL_ERR_DATA, &err, "all 2 sequences have letters outside the alphabet");
    ck_assert(content.alignment.sequences == 2 && !plain.text);
    sali_content_free(&content);
}
END_TEST

START_TEST(preparing_survives_failing_allocations)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    const sali_alignment_rules rules = { .unknown = SAL_UNKNOWN_DROP,
                                         .duplicates = SAL_DUPLICATES_DROP };
    ck_ok(parse_text(&sali_format_aln, "MKVA\nMKVX\nMKVA\n", &content, &err), &err);
    uint8_t codes[12];
    sali_remark remark = { 0 };
    memcpy(codes, content.alignment.codes, sizeof codes);
    sali_alignment view = content.alignment;
    ck_alloc_sweep((memcpy(content.alignment.codes, codes, sizeof codes), view = content.alignment,
                    sali_remark_free(&remark),
                    sali_alignment_prepare(&view, &rules, &remark, &err)),
                   sali_remark_free(&remark));
    sali_content_free(&content);
}
END_TEST

/* A NUL is a character like others that are wrong. */
START_TEST(a_nul_is_refused)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    ck_fails(sali_format_parse(&sali_format_aln, "f", "AC\nA\0\n", 6, &content, &err), SAL_ERR_DATA,
             &err, "f:2: sequence 2 has the character '?'");
}
END_TEST

START_TEST(suffix_and_content_tell_the_format)
{
    static const struct {
        const char *name, *text;
        const sali_format *want;
    } cases[] = {
        { "a.aln", "AC\n", &sali_format_aln },          { "a", "AC\nA-\n", &sali_format_aln },
        { "a.txt", "x AC\nyy A-\n", &sali_format_aln }, { "a.a3m", ">x\nAC\n", &sali_format_fasta },
        { "a.aln", ">x\nAC\n", &sali_format_fasta },    { "a", "#2\n>x\nAC\n", &sali_format_fasta },
        { "a.fa", stockholm, &sali_format_stockholm },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        const sali_format *found = NULL;
        const char *path = temp_write(cases[i].name, cases[i].text, strlen(cases[i].text));
        ck_ok(sali_content_read(path, NULL, SALI_CONTENT_ALIGNMENT, &content, &found, &err), &err);
        ck_assert_ptr_eq(found, cases[i].want);
        sali_content_free(&content);
    }
    ck_assert(!sali_format_recognises(&sali_format_aln, "hello world\nhello again\n", 24));
    ck_assert(!sali_format_recognises(&sali_format_aln, "1 2\n1 3\n", 8));
}
END_TEST

/* 130 letters, so that FASTA needs three lines; names or none. */
START_TEST(written_alignments_read_back)
{
    sal_error err = { 0 };
    sali_content content = { 0 }, back = { 0 };
    char text[400] = "long ", *at = text + 5;
    for (int i = 0; i < 130; i++) {
        *at++ = "ACDEFGHIKLMNPQRSTVWY-"[i % 21];
    }
    sprintf(at, "\nother %130s\n", "");
    memset(at + 7, 'W', 130);
    for (int named = 0; named < 2; named++) {
        const char *path = temp_path("a");
        char want[400];
        ck_ok(parse_text(&sali_format_aln, text, &content, &err), &err);
        if (!named) {
            sali_names_free(content.alignment.names, 2);
            content.alignment.names = NULL;
        }
        ck_ok(sali_format_write(formats[_i], path, &content, &err), &err);
        ck_ok(sali_content_read(path, formats[_i], 0, &back, NULL, &err), &err);
        bool names = _i > 0;
        ck_assert_int_eq(back.alignment.names != NULL, names);
        if (names) {
            ck_assert_str_eq(back.alignment.names[0], named ? "long" : "1");
            ck_assert_str_eq(back.alignment.names[1], named ? "other" : "2");
        }
        ck_assert(back.alignment.sequences == 2 && back.alignment.length == 130);
        ck_assert_mem_eq(back.alignment.codes, content.alignment.codes, 260);
        ck_alloc_sweep(sali_format_write(formats[_i], path, &content, &err), (void)0);
        snprintf(want, sizeof want, "%s/none/a", temp_dir);
        ck_fails(sali_format_write(formats[_i], want, &content, &err), SAL_ERR_IO, &err, "none/a");
        sali_content_free(&content);
        sali_content_free(&back);
    }
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

START_TEST(stockholm_refuses_names_it_cannot_say)
{
    static const char *const texts[] = { ">\nAC\n", ">#x\nAC\n", ">//\nAC\n",
                                         ">x\nAC\n>y\nAC\n>x\nAC\n" };
    for (int i = 0; i < 4; i++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        ck_ok(parse_text(&sali_format_fasta, texts[i], &content, &err), &err);
        ck_fails(sali_format_write(&sali_format_stockholm, temp_path("a.sto"), &content, &err),
                 SAL_ERR_ARGUMENT, &err, "which Stockholm cannot say");
        sali_content_free(&content);
    }
    ck_assert_int_eq(temp_count(), 0);
}
END_TEST

static const char *const good[] = { "# c\nx AC-E\ny A.DX\n", ">x one\nAC\n..-E\n>y\nA-\nkwDE\n",
                                    stockholm };
static int parsed; /* which format the sweep is about */

static sal_status parse_swept(const void *data, int64_t size, sal_error *err)
{
    sali_content content = { 0 };
    sali_format_recognises(formats[parsed], data, size);
    sal_status status = sali_format_parse(formats[parsed], "mem", data, size, &content, err);
    sali_content_free(&content);
    return status;
}

START_TEST(truncated_and_damaged_files_are_survived)
{
    parsed = _i;
    temp_sweep(parse_swept, good[_i], (int64_t)strlen(good[_i]));
}
END_TEST

START_TEST(readers_survive_failing_allocations)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    ck_alloc_sweep(parse_text(formats[_i], good[_i], &content, &err), sali_content_free(&content));
}
END_TEST

/* Each of A, C, G and T or U, no letter of amino acids only, few that are ambiguous. */
START_TEST(alphabets_are_told_by_letters)
{
    static const struct {
        const char *text;
        const char *alphabet;
        const char *want; /* as its letters */
    } cases[] = {
        { "ACGU-\nGGC-A\n", sali_rna, "ACGU-\nGGC-A\n" },
        { "ACGT-\nGGC-A\n", sali_dna, "ACGT-\nGGC-A\n" },
        { "ACGT-\nGGUUA\n", sali_rna, "ACGU-\nGGUUA\n" }, /* T is U */
        { "ACGTT\nGGUCA\n", sali_dna, "ACGTT\nGGTCA\n" }, /* and U is T */
        { "ACGUNNNX\nACGUGCA-\n", sali_rna, "ACGU----\nACGUGCA-\n" },
        { "ACGUACGUAR\n", sali_rna, "ACGUACGUA-\n" }, /* 90%, and less */
        { "ACGUACGURY\n", sali_protein, "ACG-ACG-RY\n" },
        { "ACGUACGUACGUACGUL\n", sali_protein, "ACG-ACG-ACG-ACG-L\n" },
        { "ACGU*********\n", sali_rna, "ACGU---------\n" },
        { "ACG\nAAA\n", sali_protein, "ACG\nAAA\n" },
        { "----\n", sali_protein, "----\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        ck_ok(parse_text(&sali_format_aln, cases[i].text, &content, &err), &err);
        ck_assert_str_eq(content.alignment.alphabet, cases[i].alphabet);
        ck_assert_str_eq(shown(&content), cases[i].want);
        ck_ok(sali_format_write(&sali_format_fasta, temp_path("a.fa"), &content, &err), &err);
        sali_content_free(&content);
        ck_ok(sali_content_read(temp_path("a.fa"), NULL, 0, &content, NULL, &err), &err);
        sali_content_free(&content);
    }
}
END_TEST

/* Letters of an alphabet of one's own, in its order, whatever they are; case counts if the alphabet
 * has lower-case letters. */
START_TEST(alphabets_of_ones_own_are_read)
{
    static const struct {
        const sali_format *format;
        const char *alphabet, *text, *want;
        int64_t unknown;
    } cases[] = {
        { &sali_format_fasta, "-BAX", ">x\nABX-\n>y\nXX~C\n", "x ABX-\ny XX--\n", 1 },
        { &sali_format_fasta, "-ABab", ">x\nABab\n>y\nab.-\n", "x ABab\ny ab--\n", 0 },
        { &sali_format_fasta, "-ab", ">x\nabA\n>y\n-bc\n", "x ab-\ny -b-\n", 2 },
        { &sali_format_fasta, "-ab", ">x\nabc\n>y\nbac\n", "x ab-\ny ba-\n", 2 },
        { &sali_format_fasta, "-AB", ">x\nab\n>y\nB.\n", "x AB\ny B-\n", 0 },
        { &sali_format_fasta, "-01", ">x\n01-\n>y\n1 1\n0\n", "x 01-\ny 110\n", 0 },
        { &sali_format_aln, "-H*@", "*H@-\n@@HE\n", "*H@-\n@@H-\n", 1 },
        { &sali_format_stockholm, "-Ha", "# STOCKHOLM 1.0\nx Ha\ny a.\n//\n", "x Ha\ny a-\n", 0 },
        { &sali_format_fasta, "-ACGU", ">x\nACGT\n>y\nUUAN\n", "x ACGU\ny UUA-\n", 1 },
        { &sali_format_fasta, "-UGCA", ">x\nACGT\n>y\nUUAN\n", "x ACG-\ny UUA-\n", 2 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sali_reading reading = { .alphabet = cases[i].alphabet };
        sal_error err = { 0 };
        sali_content content = { 0 };
        sali_remark remark = { 0 };
        char text[64];
        ck_ok(sali_format_parse_as(cases[i].format, "f", cases[i].text,
                                   (int64_t)strlen(cases[i].text), &reading, &content, &err),
              &err);
        ck_assert_str_eq(shown(&content), cases[i].want);
        ck_ok(sali_alignment_remark(&content.alignment, &remark, &err), &err);
        snprintf(text, sizeof text, "%lld letters in", (long long)cases[i].unknown);
        ck_assert_int_eq(strstr(remark.text, text) != NULL, cases[i].unknown > 0);
        sali_remark_free(&remark);
        const char *path = temp_path("own.fa");
        ck_ok(sali_format_write(&sali_format_fasta, path, &content, &err), &err);
        sali_content_free(&content);
        ck_ok(sali_content_read_as(path, NULL, 0, &reading, &content, NULL, &err), &err);
        ck_assert_int_eq(content.alignment.sequences, 2);
        sali_content_free(&content);
    }
    sal_error err = { 0 };
    sali_content content = { 0 };
    ck_fails(parse_text(&sali_format_fasta, ">x\n01-\n", &content, &err), SAL_ERR_DATA, &err,
             "has the character '0'; expected letters, '-' or '.'");
}
END_TEST

/* Without a gap in the alphabet, a gap is a reason to leave out the sequence, and so is any other
 * letter that the alphabet lacks. */
START_TEST(an_alphabet_is_a_name_or_letters)
{
    static const struct {
        const char *text, *letters;
    } named[] = { { NULL, "" },       { "auto", "" },     { "protein", "-ACDEFGHIKLMNPQRSTVWY" },
                  { "rna", "-ACGU" }, { "dna", "-ACGT" }, { "-BAX", "-BAX" },
                  { "ACGU", "ACGU" } };
    static const struct {
        const char *text, *message;
    } wrong[] = { { "", "alphabet=; expected auto, protein" },
                  { "RNA", "alphabet=RNA; did you mean 'rna'?" },
                  { "protien", "did you mean 'protein'?" },
                  { "-AA", "such as -ACGU: the alphabet -AA has the letter 'A' twice" } };
    char letters[SAL_ALPHABET_ROOM];
    sal_error err = { 0 };
    for (size_t k = 0; k < sizeof named / sizeof *named; k++) {
        ck_ok(sali_alphabet_parse(named[k].text, letters, &err), &err);
        ck_assert_str_eq(letters, named[k].letters);
    }
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        ck_fails(sali_alphabet_parse(wrong[k].text, letters, &err), SAL_ERR_ARGUMENT, &err,
                 wrong[k].message);
    }
}
END_TEST

START_TEST(an_alphabet_without_a_gap_drops_gaps)
{
    static const char text[] = "ACGU\nAC-U\nGGCN\nUUUA\n";
    sali_remark remark =
        prepare(text, (sali_alignment_rules){ .alphabet = "ACGU" }, "ACGU\nUUUA\n");
    ck_assert_str_eq(remark.text, "2 sequences of 4 sites (ACGU); 2 sequences with gaps or letters "
                                  "outside the alphabet were dropped");
    ck_assert(remark.warns);
    sali_remark_free(&remark);
    sal_error err = { 0 };
    sali_content content = { 0 };
    ck_ok(parse_text(&sali_format_aln, "AC-U\n-CGU\n", &content, &err), &err);
    ck_fails(sali_alignment_prepare(&content.alignment,
                                    &(sali_alignment_rules){ .alphabet = "ACGU" }, &remark, &err),
             SAL_ERR_DATA, &err,
             "all 2 sequences have gaps or letters outside the alphabet (ACGU)");
    sali_content_free(&content);
}
END_TEST

START_TEST(unknown_letters_are_refused_by_name)
{
    static const struct {
        const char *text, *alphabet, *message;
    } cases[] = {
        { ">a\nMKV\n>b\nMXV\n>c\nXXX\n", "",
          "sequence 2 ('b') has the letter 'X' at site 2, which the alphabet "
          "-ACDEFGHIKLMNPQRSTVWY lacks (2 of 3 sequences have such letters)" },
        { ">\nACGU\n>b\nAC-U\n", "ACGU",
          "sequence 2 ('b') has the gap '-' at site 3, which the alphabet ACGU lacks (1 of 2" },
        { ">\nNCGU\n>b\nACGU\n", "", "sequence 1 has the letter 'N' at site 1, which" },
        { ">a\033[31m\177\xc3\xa9\nNCGU\n", "-ACGU",
          "sequence 1 ('a?[31m?\xc3\xa9') has the letter 'N' at site 1" },
    };
    const sali_alignment_rules all = { .unknown = SAL_UNKNOWN_ERROR };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sali_alignment_rules rules = all;
        sal_error err = { 0 };
        sali_content content = { 0 };
        sali_remark remark = { 0 };
        rules.alphabet = cases[k].alphabet;
        ck_ok(parse_text(&sali_format_fasta, cases[k].text, &content, &err), &err);
        ck_fails(sali_alignment_prepare(&content.alignment, &rules, &remark, &err), SAL_ERR_DATA,
                 &err, cases[k].message);
        ck_assert_ptr_null(remark.text);
        sali_content_free(&content);
    }
    sali_remark remark = prepare("MKV\n-KV\n", all, "MKV\n-KV\n");
    ck_assert_str_eq(remark.text, "2 sequences of 3 sites (protein)");
    sali_remark_free(&remark);
}
END_TEST

/* A, C, G and T are amino acids, too. */
START_TEST(bases_that_are_read_as_amino_acids_are_told)
{
    static const struct {
        const char *text, *alphabet;
        bool told;
    } cases[] = {
        { "ACGT\nGGTN\n", "-ACDEFGHIKLMNPQRSTVWY", true },
        { "ACGT\nGGT-\n", "ACDEFGHIKLMNPQRSTVWY", true },
        { "ACG-\nAAAA\n", "", true },
        { "ACGT\nGGTN\n", "", false },
        { "ACGT\nGGTK\n", "-ACDEFGHIKLMNPQRSTVWY", false },
        { "----\n", "", false },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        sali_remark remark = { 0 };
        ck_ok(parse_text(&sali_format_aln, cases[k].text, &content, &err), &err);
        sali_alignment a = content.alignment; /* which keeps what `a` drops */
        ck_ok(sali_alignment_prepare(&a, &(sali_alignment_rules){ .alphabet = cases[k].alphabet },
                                     &remark, &err),
              &err);
        ck_assert_int_eq(strstr(remark.text, "as those of DNA and RNA, and are read as amino") !=
                             NULL,
                         cases[k].told);
        ck_assert(remark.warns || !cases[k].told);
        sali_remark_free(&remark);
        sali_content_free(&content);
    }
}
END_TEST

/* What one alphabet lacks and the other has is not lost; without the letters it is. */
START_TEST(an_alignment_is_recoded_from_its_letters)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    ck_ok(parse_text(&sali_format_aln, "ACGUACGUACGUR\n", &content, &err), &err);
    sali_alignment *a = &content.alignment;
    ck_assert_str_eq(shown(&content), "ACGUACGUACGU-\n");
    sali_alignment_recode(a, sali_protein);
    ck_assert_str_eq(shown(&content), "ACG-ACG-ACG-R\n");
    sali_alignment_recode(a, sali_dna);
    ck_assert_str_eq(shown(&content), "ACGTACGTACGT-\n");
    sali_alignment_recode(a, "");
    ck_assert_str_eq(a->alphabet, sali_dna);
    free(a->letters);
    a->letters = NULL;
    sali_alignment_recode(a, sali_rna);
    ck_assert_str_eq(shown(&content), "ACGUACGUACGU-\n");
    sali_content_free(&content);
}
END_TEST

START_TEST(the_public_rna_alignment_is_read)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    if (!test_data("data/RF00379.fasta")) {
        return;
    }
    ck_ok(sali_content_read(test_data("data/RF00379.fasta"), NULL, 0, &content, NULL, &err), &err);
    ck_assert(content.alignment.sequences == 3827 && content.alignment.length == 136);
    ck_assert_str_eq(content.alignment.alphabet, sali_rna);
    int64_t counts[5] = { 0 };
    for (int64_t k = 0; k < 3827 * 136; k++) {
        counts[content.alignment.codes[k]]++;
    }
    ck_assert_int_eq(counts[0], 37908); /* '-', as the file has it, and C */
    ck_assert_int_eq(counts[2], 136565);
    sali_content_free(&content);
}
END_TEST

START_TEST(the_public_alignment_is_read)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    int64_t gaps = 0;
    if (!test_data("data/1atzA.aln")) {
        return;
    }
    ck_ok(sali_content_read(test_data("data/1atzA.aln"), NULL, 0, &content, NULL, &err), &err);
    ck_assert(content.alignment.sequences == 3068 && content.alignment.length == 75);
    for (int64_t k = 0; k < 3068 * 75; k++) {
        gaps += content.alignment.codes[k] == 0;
    }
    ck_assert_int_eq(gaps, 16821 + 1 + 100); /* '-', 'B', 'X' in the file */
    sali_content_free(&content);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_alignment");
    TCase *tcase = tcase_create("alignment");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, dialects_are_read);
    tcase_add_test(tcase, bad_files_are_refused);
    tcase_add_test(tcase, lower_case_is_aligned_unless_match_columns_are_equal);
    tcase_add_test(tcase, a_remark_says_the_size_and_what_was_dropped);
    tcase_add_test(tcase, preparing_survives_failing_allocations);
    tcase_add_test(tcase, a_nul_is_refused);
    tcase_add_test(tcase, suffix_and_content_tell_the_format);
    tcase_add_loop_test(tcase, written_alignments_read_back, 0, FORMATS);
    tcase_add_test(tcase, stockholm_refuses_names_it_cannot_say);
    tcase_add_loop_test(tcase, truncated_and_damaged_files_are_survived, 0, FORMATS);
    tcase_add_loop_test(tcase, readers_survive_failing_allocations, 0, FORMATS);
    tcase_add_test(tcase, alphabets_are_told_by_letters);
    tcase_add_test(tcase, alphabets_of_ones_own_are_read);
    tcase_add_test(tcase, an_alphabet_is_a_name_or_letters);
    tcase_add_test(tcase, an_alphabet_without_a_gap_drops_gaps);
    tcase_add_test(tcase, unknown_letters_are_refused_by_name);
    tcase_add_test(tcase, bases_that_are_read_as_amino_acids_are_told);
    tcase_add_test(tcase, an_alignment_is_recoded_from_its_letters);
    tcase_add_test(tcase, the_public_rna_alignment_is_read);
    tcase_add_test(tcase, the_public_alignment_is_read);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
