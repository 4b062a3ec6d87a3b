/** The static files of a deployment, read by the Worker itself. */

export interface StaticFiles {
  fetch(url: URL): Promise<Response>;
}

/**
 * Returns the bytes of a static file.
 * @param path from the root of the files, with a leading slash
 * @throws Error if the deployment lacks the file
 */
export async function readStaticFile(files: StaticFiles, path: string): Promise<ArrayBuffer> {
  const response = await files.fetch(new URL(path, 'https://assets.invalid'));
  if (!response.ok) throw new Error(`The static file ${path} is missing: build the assets`);
  return response.arrayBuffer();
}
