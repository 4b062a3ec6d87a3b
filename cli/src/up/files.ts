/** The gateway files that `portico up` starts: packed beside the command, or those of the checkout it runs from. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readPackedFiles, type GatewayFiles } from '../../../local/gateway-files.ts';

const PACKED = fileURLToPath(new URL('gateway/', import.meta.url));
/** Not bundled, since it needs the tools of a checkout. */
const SOURCE = new URL('../../../local/source-files.ts', import.meta.url).href;

export async function loadGatewayFiles(): Promise<GatewayFiles> {
  if (existsSync(PACKED)) return readPackedFiles(PACKED);
  const { readSourceFiles } = (await import(SOURCE)) as {
    readSourceFiles(): Promise<GatewayFiles>;
  };
  return readSourceFiles();
}
