/** What VS Code reports about one setting. */
export interface Inspected {
  globalValue?: unknown;
  workspaceValue?: unknown;
  workspaceFolderValue?: unknown;
}

export interface Contributed {
  name: string;
  /** A workspace may not set it: the setting's scope is `machine`. */
  isPersonal: boolean;
}

/** The settings that the package contributes for the server, without the extension's own. */
export function serverSettings(properties: Record<string, { scope?: string }>): Contributed[] {
  return Object.entries(properties)
    .map(([key, { scope }]) => ({ name: key.replace(/^coppice\./, ""), isPersonal: scope === "machine" }))
    .filter(({ name }) => !/^(server|chat)\./.test(name));
}

/**
 * The section `coppice` as the server is given it: only what a person has set. A default that was sent along
 * would overrule the user's `settings.toml`. `null` means empty and is not sent.
 */
export function explicitSettings(
  contributed: Contributed[],
  inspect: (name: string) => Inspected | undefined,
): Record<string, unknown> {
  const section: Record<string, unknown> = {};
  for (const { name, isPersonal } of contributed) {
    const { globalValue, workspaceValue, workspaceFolderValue } = inspect(name) ?? {};
    const value = isPersonal ? globalValue : (workspaceFolderValue ?? workspaceValue ?? globalValue);
    if (value !== undefined && value !== null) put(section, name.split("."), value);
  }
  return section;
}

function put(section: Record<string, unknown>, [head, ...rest]: string[], value: unknown): void {
  if (head === undefined) return;
  if (rest.length === 0) {
    section[head] = value;
    return;
  }
  const inner = (section[head] ??= {}) as Record<string, unknown>;
  put(inner, rest, value);
}
