/** `portico export`: reads the gateway and writes it as a file. */
import { parse } from 'yaml';
import { ConfigurationSchema } from '../../../src/api/configuration-file.ts';
import type { Api } from '../gateway/api.ts';
import { visible } from '../output/table.ts';
import { note, outputColumns, writeJson, writeOut } from '../terminal.ts';
import { exportFile } from './export-file.ts';
import { readGateway, requireAllKinds } from './read-gateway.ts';

/** @param isJson as JSON, which an apply takes too */
export async function writeExport(api: Api, isJson: boolean): Promise<void> {
  await requireAllKinds(api);
  const owner = await findOwner(api);
  const file = ConfigurationSchema.parse({ owner });
  const { known } = await readGateway(api, file, new Map());
  const { text, leftOut } = exportFile(known, file.owner, api.origin);
  if (isJson) await writeJson(parse(text));
  // A file has everything as it is; a terminal is shown what would deceive it.
  else await writeOut(outputColumns() === undefined ? text : visible(text));
  for (const what of leftOut) note(visible(`left out: ${what}`));
}

/** The owner that the records have, where all that have one have the same. */
async function findOwner(api: Api): Promise<string | undefined> {
  const records = await api.list<{ owner: string }>('/api/v1/owners', 'records');
  const [owner, other] = new Set(records.map(record => record.owner));
  return other === undefined ? owner : undefined;
}
