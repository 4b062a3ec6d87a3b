/** The static files a deployment brings, read by the Worker itself. */

/** The binding of the static files. */
export interface StaticFiles {
  fetch(url: URL): Promise<Response>;
}

/**
 * The bytes of one.
 * @param path from the root of the files, with its slash
 * @throws Error where the deployment lacks it
 */
export async function readStaticFile(files: StaticFiles, path: string): Promise<ArrayBuffer> {
  const response = await files.fetch(new URL(path, 'https://assets.invalid'));
  if (!response.ok) throw new Error(`The static file ${path} is missing: build the assets`);
  return response.arrayBuffer();
}
