// Where a row of a bulk INSERT spends its instructions, on 5.7.22 and on 8.0.31: a difference flame graph that unfolds. Counts of real
// servers, so no kernel computes it. Of calls only paths of some size were recorded, so a function takes at least what is here.

// Callers before what they call: depth, function, instructions per row on 5.7.22 and on 8.0.31, and what the function became, all its calls
// together. `insert_calls` of the chapter's figures makes them; a test holds them against the recording.
const CALLS = [
  [0, "a row", 15896, 20782, "grown"],
  [1, "dispatch_sql_command", 14516, 17514, "grown"],
  [2, "mysql_execute_command", 9568, 12537, "grown"],
  [3, "Sql_cmd_dml::execute", 0, 12537, "new"],
  [4, "Sql_cmd_insert_values::execute_inner", 0, 12239, "new"],
  [5, "write_record", 0, 11485, "grown"],
  [6, "handler::ha_write_row", 0, 11401, "grown"],
  [7, "ha_innobase::write_row", 0, 11401, "grown"],
  [8, "row_insert_for_mysql", 0, 11304, "grown"],
  [9, "row_ins_step", 0, 10943, "grown"],
  [10, "row_ins_clust_index_entry", 0, 10670, "grown"],
  [11, "row_ins_clust_index_entry_low", 0, 10592, "grown"],
  [12, "btr_cur_optimistic_insert", 0, 5234, "grown"],
  [13, "no name below btr_cur_optimistic_insert", 0, 2402, "same"],
  [14, "page_cur_insert_rec_low", 0, 1318, "grown"],
  [15, "no name below page_cur_insert_rec_low", 0, 992, "grown"],
  [14, "rec_convert_dtuple_to_rec", 0, 510, "grown"],
  [15, "no name below rec_convert_dtuple_to_rec", 0, 299, "new"],
  [14, "rec_get_offsets", 0, 243, "grown"],
  [13, "trx_undo_report_row_operation", 0, 1880, "grown"],
  [14, "buf_page_get_gen", 0, 868, "grown"],
  [15, "Buf_fetch::single_page", 0, 705, "new"],
  [14, "mtr_t::commit", 0, 579, "grown"],
  [15, "mtr_t::Command::execute", 0, 579, "grown"],
  [13, "lock_rec_insert_check_and_lock", 0, 567, "grown"],
  [12, "btr_cur_search_to_nth_level", 0, 4015, "grown"],
  [13, "buf_page_get_gen", 0, 2054, "grown"],
  [14, "Buf_fetch::single_page", 0, 1676, "new"],
  [15, "Buf_fetch_normal::get", 0, 1043, "new"],
  [15, "no name below Buf_fetch::single_page", 0, 258, "new"],
  [13, "page_cur_search_with_match", 0, 1056, "shrunk"],
  [14, "dtuple_t::compare", 0, 469, "new"],
  [15, "cmp_dtuple_rec_with_match_low", 0, 469, "grown"],
  [14, "rec_get_offsets", 0, 241, "grown"],
  [12, "mtr_t::commit", 0, 668, "grown"],
  [13, "mtr_t::Command::execute", 0, 668, "grown"],
  [12, "btr_cur_pessimistic_insert", 0, 317, "grown"],
  [13, "btr_root_raise_and_insert", 0, 268, "grown"],
  [14, "page_copy_rec_list_end", 0, 212, "grown"],
  [15, "page_copy_rec_list_end_to_created_page", 0, 212, "grown"],
  [5, "fill_record_n_invoke_before_triggers", 0, 586, "grown"],
  [6, "fill_record", 0, 469, "grown"],
  [7, "Item::save_in_field", 0, 262, "grown"],
  [4, "Sql_cmd_dml::prepare", 0, 298, "new"],
  [5, "Sql_cmd_insert_base::prepare_inner", 0, 298, "new"],
  [6, "setup_fields", 0, 210, "grown"],
  [3, "Sql_cmd_insert::execute", 9568, 0, "shrunk"],
  [4, "Sql_cmd_insert::mysql_insert", 9568, 0, "shrunk"],
  [5, "write_record", 9016, 0, "grown"],
  [6, "handler::ha_write_row", 8944, 0, "grown"],
  [7, "ha_innobase::write_row", 8901, 0, "grown"],
  [8, "row_insert_for_mysql", 8782, 0, "grown"],
  [9, "row_ins_step", 8414, 0, "grown"],
  [10, "row_ins_clust_index_entry", 8060, 0, "grown"],
  [11, "row_ins_clust_index_entry_low", 7998, 0, "grown"],
  [12, "btr_cur_optimistic_insert", 4159, 0, "grown"],
  [13, "no name below btr_cur_optimistic_insert", 2379, 0, "same"],
  [14, "page_cur_insert_rec_low", 1170, 0, "grown"],
  [15, "no name below page_cur_insert_rec_low", 802, 0, "grown"],
  [14, "mem_heap_create_block", 513, 0, "shrunk"],
  [15, "ut_new_get_key_by_file", 260, 0, "shrunk"],
  [14, "rec_convert_dtuple_to_rec", 316, 0, "grown"],
  [13, "trx_undo_report_row_operation", 1309, 0, "grown"],
  [14, "mtr_t::commit", 410, 0, "grown"],
  [15, "mtr_t::Command::execute", 410, 0, "grown"],
  [14, "buf_page_get_gen", 399, 0, "grown"],
  [12, "btr_cur_search_to_nth_level", 2676, 0, "grown"],
  [13, "page_cur_search_with_match", 1144, 0, "shrunk"],
  [14, "rec_get_offsets", 416, 0, "grown"],
  [14, "cmp_dtuple_rec_with_match_low", 347, 0, "grown"],
  [13, "buf_page_get_gen", 716, 0, "grown"],
  [12, "mtr_t::commit", 453, 0, "grown"],
  [13, "mtr_t::Command::execute", 453, 0, "grown"],
  [12, "btr_cur_pessimistic_insert", 282, 0, "grown"],
  [13, "btr_root_raise_and_insert", 241, 0, "grown"],
  [10, "row_ins_index_entry_set_vals", 225, 0, "shrunk"],
  [5, "fill_record_n_invoke_before_triggers", 348, 0, "grown"],
  [6, "fill_record", 253, 0, "grown"],
  [2, "parse_sql", 4914, 4976, "same"],
  [3, "THD::sql_parser", 0, 4976, "new"],
  [4, "my_sql_parser_parse", 0, 4805, "same"],
  [5, "my_sql_parser_lex", 0, 1450, "grown"],
  [6, "no name below my_sql_parser_lex", 0, 712, "shrunk"],
  [6, "Lex_input_stream::add_digest_token", 0, 431, "grown"],
  [7, "digest_add_token", 0, 341, "new"],
  [5, "Item_int::Item_int", 0, 315, "new"],
  [3, "my_sql_parser_parse", 4914, 0, "same"],
  [4, "my_sql_parser_lex", 1151, 0, "grown"],
  [5, "no name below my_sql_parser_lex", 773, 0, "shrunk"],
  [4, "PTI_num_literal_num::PTI_num_literal_num", 334, 0, "shrunk"],
  [1, "small calls", 1380, 3268, "grown"],
];
const SERVERS = ["5.7.22", "8.0.31"];
const DEEPEST = 16;
const KINDS = {
  grown: { colour: "#D55E00", pattern: "M0 8 L8 0" },
  new: { colour: "#CC79A7", pattern: "M0 8 L8 0 M0 0 L8 8" },
  shrunk: { colour: "#0072B2", pattern: "M0 0 L8 8" },
  same: { colour: "#999999", pattern: "" },
};
const ROW = 19;
const LETTER = 7.2; // of 12 pixels, on the safe side

/** Each call of a server with its place, in instructions from the left, and a key that it has on the other server, too. */
function placed(side) {
  const ends = [0]; // by depth, where the next box begins
  const times = {};
  return CALLS.filter((call) => call[2 + side]).map(([depth, name, ...counted]) => {
    const start = ends[depth];
    ends[depth] = start + counted[side];
    ends[depth + 1] = start;
    const key = `${depth} ${name}`;
    times[key] = (times[key] ?? 0) + 1;
    return { key: `${key} ${times[key]}`, depth, name, start, instructions: counted[side], kind: side === 0 ? "same" : counted[2] };
  });
}
const ROWS = CALLS[0].slice(2, 4); // instructions of a whole row

export default {
  title: "The calls of an INSERT",

  inputs: [
    { name: "server", label: "Server", values: SERVERS, start: "8.0.31", isChoice: true, format: (name) => `MySQL ${name}` },
    {
      name: "depth", label: "Calls", plays: "Unfold the calls", values: [1, 2, 4, 6, 8, 10, 12, 14, DEEPEST], start: DEEPEST,
      format: (n) => (n === 1 ? "the statement alone" : `${n} deep`),
    },
  ],

  compute(_kernel, inputs) {
    const side = SERVERS.indexOf(inputs.server);
    return { inputs, side, calls: CALLS, shown: placed(side).filter(({ depth }) => depth < inputs.depth) };
  },

  results() {
    return [...SERVERS.map((server, side) => [`Instructions of a row on ${server}`, count(ROWS[side])]), ["8.0.31 over 5.7.22", `${(ROWS[1] / ROWS[0]).toFixed(2)} times`]];
  },

  sentence({ inputs, side, shown }) {
    const grown = shown.filter(({ kind }) => kind === "grown" || kind === "new").length;
    return `On ${inputs.server} a row of a bulk INSERT takes ${count(ROWS[side])} instructions. ` +
      (side ? `Of ${shown.length} boxes shown, ${grown} grew since 5.7.22 or have a new name.` : "Now turn to 8.0.31.");
  },

  picture({ inputs, shown }, width, id) {
    const said = ["Callers below what they call;", "a box is as wide as it takes instructions."];
    const lines = width < 480 ? said : [said.join(" ")];
    const bottom = DEEPEST * ROW;
    const key = bottom + 6 + 16 * lines.length;
    const height = key + 15;
    const x = (instructions) => (width * instructions) / Math.max(...ROWS);
    const fills = (kind, box) => [KINDS[kind].colour, KINDS[kind].pattern && `url(#${id}-${kind})`].filter(Boolean)
      .map((fill) => `<rect ${box} fill="${fill}" fill-opacity="0.45" stroke="currentColor" stroke-width="0.5"/>`).join("");
    const parts = shown.map(({ key: moves, depth, name, start, instructions, kind }) => {
      const [left, top, wide] = [x(start), bottom - (depth + 1) * ROW, x(instructions)];
      const box = `x="${left.toFixed(1)}" y="${top}" width="${wide.toFixed(1)}" height="${ROW - 1}"`;
      const text = name.length * LETTER < wide - 6 ? `<text x="${(left + 4).toFixed(1)}" y="${top + 13}">${name}</text>` : "";
      return `<g data-moves="${moves}"><title>${name}: ${depth ? "at least " : ""}${count(instructions)} instructions per row${kind === "same" ? "" : `, ${kind}`}</title>${fills(kind, box)}${text}</g>`;
    });
    lines.forEach((line, i) => parts.push(`<text x="0" y="${bottom + 15 + 16 * i}">${line}</text>`));
    Object.keys(KINDS).forEach((kind, i) => {
      const left = (i * width) / 4;
      parts.push(fills(kind, `x="${left.toFixed(1)}" y="${key}" width="14" height="13"`) + `<text x="${(left + 19).toFixed(1)}" y="${key + 11}">${kind}</text>`);
    });
    const patterns = Object.entries(KINDS).map(([kind, { pattern }]) => pattern &&
      `<pattern id="${id}-${kind}" width="8" height="8" patternUnits="userSpaceOnUse"><path d="${pattern}" stroke="currentColor" stroke-opacity="0.5" fill="none"/></pattern>`);
    const widest = shown.filter(({ depth }) => depth > 1).sort((a, b) => b.instructions - a.instructions).slice(0, 6)
      .map(({ name, kind, instructions }) => `${name} ${count(instructions)} (${kind})`);
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ` +
      `aria-label="Flame graph of a bulk INSERT on MySQL ${inputs.server}, at least so many instructions per row: ${widest.join(", ") || "only the statement is shown"}." ` +
      `font-family="system-ui, 'Liberation Sans', sans-serif" font-size="12" fill="currentColor"><defs>${patterns.join("")}</defs>${parts.join("")}</svg>`;
  },
};
