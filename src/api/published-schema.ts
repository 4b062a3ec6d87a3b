/** `/schema/portico.json`: the JSON Schema of the configuration file, for editors. Public, since an editor has no token. Built once. */
import { SCHEMA_PATH, toJsonSchema } from './configuration-file.ts';
import { answerPage, type PagePorts } from '../http/page-files.ts';

/** Whether a path is that of the schema. */
export const isSchemaPath = (path: string): boolean => path === SCHEMA_PATH;

/** Creates the handler of requests for the schema. */
export function createPublishedSchema({ config }: Pick<PagePorts, 'config'>) {
  const headers = {
    'content-type': 'application/schema+json',
    'cache-control': 'public, max-age=300',
  };
  let text: string | undefined;
  return (request: Request, url: URL): Promise<Response> =>
    answerPage(request, url, { config }, ['GET', 'HEAD'], async () => {
      text ??= JSON.stringify(toJsonSchema());
      return new Response(text, { headers });
    });
}
