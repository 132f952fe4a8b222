import * as vscode from "vscode";

const NAMES = "coppice.keyNames";
/** The variable that holds the model's key where the settings name no other. */
export const OWN_VARIABLE = "COPPICE_API_KEY";

/**
 * The keys of models, in the editor's secret storage. The server finds them in its environment, under the names that
 * `apiKeyEnv` has in the settings; they are in no setting, log or entry.
 */
export class Keys {
  readonly #secrets: vscode.SecretStorage;
  readonly #memory: vscode.Memento;

  constructor(context: vscode.ExtensionContext) {
    this.#secrets = context.secrets;
    this.#memory = context.globalState;
  }

  /** The names of the variables that have a key. */
  get names(): string[] {
    return this.#memory.get<string[]>(NAMES, []);
  }

  /** The key of a variable, where there is one. */
  async get(name: string): Promise<string | undefined> {
    return this.names.includes(name) ? this.#secrets.get(place(name)) : undefined;
  }

  async set(name: string, key: string): Promise<void> {
    await this.#secrets.store(place(name), key);
    await this.#memory.update(NAMES, [...new Set([...this.names, name])]);
  }

  async remove(name: string): Promise<void> {
    await this.#secrets.delete(place(name));
    await this.#memory.update(NAMES, this.names.filter((each) => each !== name));
  }

  /** For the server's environment. */
  async variables(): Promise<Record<string, string>> {
    const keys = await Promise.all(this.names.map(async (name) => [name, await this.#secrets.get(place(name))] as const));
    return Object.fromEntries(keys.filter((pair): pair is [string, string] => pair[1] !== undefined));
  }
}

function place(name: string): string {
  return `coppice.key.${name}`;
}
