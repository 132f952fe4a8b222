/** Values in Git's configuration files (https://git-scm.com/docs/git-config#_syntax); the server reads them alike. */

const ITEM = /[#;][^\n]*|\[[ \t]*(?<section>[\w.-]+)(?:[ \t]+"(?:[^"\\\n]|\\.)*")?[ \t]*\]|(?<name>[A-Za-z][\w-]*)[ \t]*(?:=(?<value>(?:"(?:[^"\\\n]|\\\r?\n|\\.)*"|\\\r?\n|\\.|[^"\\\n#;])*))?/g;
const WRITTEN = /"|\\(?:\r?\n|(.))/g;
const ESCAPED = new Map([["n", "\n"], ["t", "\t"], ["b", "\b"]]);

/** Each `section.name` in lower case, without the subsection, and its value, in their order. */
export function gitConfigValues(text: string): [string, string][] {
  const values: [string, string][] = [];
  let section = "";
  for (const { groups = {} } of text.matchAll(ITEM)) {
    const { name, value } = groups;
    section = groups["section"]?.toLowerCase() ?? section;
    if (name === undefined || value === undefined) continue;
    const written = value.trim().replace(WRITTEN, (_, char?: string) => ESCAPED.get(char ?? "") ?? char ?? "");
    values.push([`${section}.${name.toLowerCase()}`, written]);
  }
  return values;
}
