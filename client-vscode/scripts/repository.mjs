/** Where this extension lies in its repository. */
const FOLDER = "client-vscode";

/**
 * What a package says of a repository with this remote address, and where links and pictures of the README lead; the
 * latter where the host's addresses are known. Nothing for an address that is not on the web. A user's name or token
 * in the address is left out.
 */
export function repositoryOf(address) {
  const short = /^[\w.-]+@([\w.-]+):(?!\/)(.+)$/.exec(address);
  const url = parsed(short === null ? address : `https://${short[1]}/${short[2]}`);
  if (url === undefined || !["https:", "http:", "ssh:"].includes(url.protocol) || isLocal(url.hostname)) return undefined;
  const web = `https://${url.hostname}${url.pathname.replace(/\/$/, "").replace(/\.git$/, "")}`;
  const manifest = { repository: { type: "git", url: `${web}.git`, directory: FOLDER }, homepage: `${web}#readme`, bugs: { url: `${web}/issues` } };
  const between = { "github.com": "", "gitlab.com": "/-" }[url.hostname];
  if (between === undefined) return { manifest };
  return { manifest, links: { baseContentUrl: `${web}${between}/blob/HEAD/${FOLDER}`, baseImagesUrl: `${web}${between}/raw/HEAD/${FOLDER}` } };
}

function parsed(address) {
  try {
    return new URL(address);
  } catch {
    return undefined;
  }
}

function isLocal(host) {
  return host === "" || host === "localhost" || !host.includes(".") || /^[\d.]+$|:/.test(host);
}
