/** What src/agent/editor, src/chat/attention.ts, src/chat/file-changes.ts and src/permissions use of VS Code's API, for tests without an editor. A document is loaded again only by `load`. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";

export class Uri {
  readonly scheme = "file";
  private constructor(readonly fsPath: string) {}

  static file(path: string): Uri {
    return new Uri(path);
  }
}

export class Range {
  constructor(
    readonly start: number,
    readonly end: number,
  ) {}
}

export class TextDocument {
  isClosed = false;
  isDirty = false;
  encoding = "utf8";
  #text = "";
  #loaded = "";

  constructor(readonly uri: Uri) {
    this.load();
  }

  load(): void {
    this.#loaded = readFileSync(this.uri.fsPath, "utf8");
    this.encoding = this.#loaded.startsWith("\ufeff") ? "utf8bom" : "utf8";
    this.#text = this.#loaded.replace(/^\ufeff/, "");
  }

  replace({ start, end }: Range, text: string): void {
    this.#text = this.#text.slice(0, start) + text + this.#text.slice(end);
    this.isDirty = true;
  }

  getText({ start, end }: Range = new Range(0, this.#text.length)): string {
    return this.#text.slice(start, end);
  }

  positionAt(offset: number): number {
    return offset;
  }

  /** As the last tab of the file is closed: what has changed stays in memory, in another document. */
  close(): void {
    const later = new TextDocument(this.uri);
    later.#text = this.#text;
    later.isDirty = this.isDirty;
    this.isClosed = true;
    workspace.textDocuments = workspace.textDocuments.map((each) => (each === this ? later : each));
  }

  /** Refused where the file is another than was loaded. */
  async save(): Promise<boolean> {
    if (this.isClosed) throw new Error("Document has been closed");
    if (readFileSync(this.uri.fsPath, "utf8") !== this.#loaded) return false;
    writeFileSync(this.uri.fsPath, await workspace.encode(this.#text, this));
    this.isDirty = false;
    this.load();
    return true;
  }
}

export class WorkspaceEdit {
  readonly steps: (() => Promise<boolean>)[] = [];

  createFile({ fsPath }: Uri, { contents }: { contents: Uint8Array }): void {
    this.#add(() => {
      if (existsSync(fsPath)) return false;
      writeFileSync(fsPath, contents);
      return true;
    });
  }

  deleteFile({ fsPath }: Uri): void {
    this.#add(() => {
      rmSync(fsPath);
      return true;
    });
  }

  replace(uri: Uri, range: Range, text: string): void {
    this.steps.push(async () => {
      (await workspace.openTextDocument(uri)).replace(range, text);
      return true;
    });
  }

  #add(step: () => boolean): void {
    this.steps.push(() => Promise.resolve(step()));
  }
}

interface Choice {
  label: string;
}

/** Notifications are answered by `answer`, lists and inputs by `choices` one after the other, and cancelled without one. */
export const window = {
  choices: [] as string[],
  /** The lists that were shown, by their labels. */
  shown: [] as string[][],
  showQuickPick: async <T extends Choice | string>(given: readonly T[] | Promise<readonly T[]>): Promise<T | undefined> => {
    const items = await given;
    const labels = items.map((item) => (typeof item === "string" ? item : item.label));
    window.shown.push(labels);
    const choice = window.choices.shift();
    return choice === undefined ? undefined : items[labels.findIndex((label) => label.includes(choice))];
  },
  /** What is not valid is not accepted. */
  showInputBox: async ({ validateInput }: { validateInput: (given: string) => unknown }): Promise<string | undefined> => {
    const given = window.choices.shift();
    return given === undefined || (await validateInput(given)) !== undefined ? undefined : given;
  },
  answer: (_message: string): string | undefined | Promise<string | undefined> => undefined,
  state: { focused: false },
  showInformationMessage: (message: string) => Promise.resolve(window.answer(message)),
  showWarningMessage: (message: string) => Promise.resolve(window.answer(message)),
  showErrorMessage: (message: string) => Promise.resolve(window.answer(message)),
  withProgress: <T>(_options: unknown, work: () => Promise<T>) => work(),
};

export const env = { shell: "/bin/sh" };

export class LanguageModelTextPart {
  constructor(readonly value: string) {}
}

export class LanguageModelPromptTsxPart {
  constructor(readonly value: unknown) {}
}

export const lm = {
  tools: [] as { name: string }[],
  invokeTool: (_name: string): Promise<{ content: unknown[] }> => Promise.resolve({ content: [] }),
};

export const workspace = {
  workspaceFolders: [] as { uri: Uri }[],
  isTrusted: true,
  /** By their whole names. */
  settings: {} as Record<string, unknown>,
  getConfiguration(section?: string) {
    return { get: <T>(name: string, usual: T): T => (this.settings[section === undefined ? name : `${section}.${name}`] as T | undefined) ?? usual };
  },
  textDocuments: [] as TextDocument[],

  openTextDocument(uri: Uri): Promise<TextDocument> {
    const open = this.textDocuments.find((each) => each.uri.fsPath === uri.fsPath);
    if (open !== undefined) return Promise.resolve(open);
    const document = new TextDocument(uri);
    this.textDocuments.push(document);
    return Promise.resolve(document);
  },

  /** Called between an edit and what follows it. */
  onEdited: (): void => undefined,

  async applyEdit({ steps }: WorkspaceEdit): Promise<boolean> {
    for (const step of steps) if (!(await step())) return false;
    this.onEdited();
    return true;
  },

  decode(bytes: Uint8Array): Promise<string> {
    if (bytes.includes(0)) return Promise.reject(new Error("The content is binary."));
    return Promise.resolve(new TextDecoder("utf-8").decode(bytes));
  },

  encode(text: string, { encoding }: { encoding: string }): Promise<Uint8Array> {
    return Promise.resolve(new TextEncoder().encode(encoding === "utf8bom" ? `\ufeff${text}` : text));
  },

  fs: {
    writeFile({ fsPath }: Uri, bytes: Uint8Array): Promise<void> {
      writeFileSync(fsPath, bytes);
      return Promise.resolve();
    },
  },
};

export enum ConfigurationTarget { Global = 1 }
