interface Found {
  manifest: { repository: { type: string; url: string; directory: string }; homepage: string; bugs: { url: string } };
  links?: { baseContentUrl: string; baseImagesUrl: string };
}

export function repositoryOf(address: string): Found | undefined;
