/** The files of the gateway that `portico up` starts: packed beside the command, or those of the checkout it is run from. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readPackedFiles, type GatewayFiles } from '../../../local/gateway-files.ts';

const PACKED = fileURLToPath(new URL('gateway/', import.meta.url));
/** Not bundled: it needs the tools that a checkout has. */
const SOURCE = new URL('../../../local/source-files.ts', import.meta.url).href;

export async function loadGatewayFiles(): Promise<GatewayFiles> {
  if (existsSync(PACKED)) return readPackedFiles(PACKED);
  const { readSourceFiles } = (await import(SOURCE)) as {
    readSourceFiles(): Promise<GatewayFiles>;
  };
  return readSourceFiles();
}
