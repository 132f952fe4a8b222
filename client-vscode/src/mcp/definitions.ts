/** A workspace folder, as far as a server needs it. `local` is whether it lies in this machine's file system. */
export interface Folder {
  name: string;
  local: boolean;
}

/** What a server is called, for a folder among others. */
export interface Named<F> {
  label: string;
  folder: F;
}

/** The servers of a window: one for each local folder, named after it where there are several. */
export function namedServers<F extends Folder>(folders: readonly F[]): Named<F>[] {
  const local = folders.filter((folder) => folder.local);
  return local.map((folder) => ({ label: local.length > 1 ? `Coppice (${folder.name})` : "Coppice", folder }));
}
