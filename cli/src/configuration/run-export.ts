/** `portico export`: reads the gateway and writes it as a file. */
import { parse } from 'yaml';
import { ConfigurationSchema } from '../../../src/api/configuration-file.ts';
import type { Api } from '../gateway/api.ts';
import { visible } from '../output/table.ts';
import { note, writeForeign, writeJson } from '../terminal.ts';
import { exportFile } from './export-file.ts';
import { readGateway, requireAllKinds } from './read-gateway.ts';

/** @param isJson write JSON, which `apply` accepts too */
export async function writeExport(api: Api, isJson: boolean): Promise<void> {
  await requireAllKinds(api);
  const owner = await findOwner(api);
  const file = ConfigurationSchema.parse({ owner });
  const { known } = await readGateway(api, file, new Map());
  const { text, leftOut } = exportFile(known, file.owner, api.origin);
  if (isJson) await writeJson(parse(text));
  // A file gets the exact text; at a terminal, deceptive characters are made visible.
  else await writeForeign(text, visible);
  for (const what of leftOut) note(visible(`left out: ${what}`));
}

/** The owner of the records, if all records with an owner have the same one. */
async function findOwner(api: Api): Promise<string | undefined> {
  const records = await api.list<{ owner: string }>('/api/v1/owners', 'records');
  const [owner, other] = new Set(records.map(record => record.owner));
  return other === undefined ? owner : undefined;
}
