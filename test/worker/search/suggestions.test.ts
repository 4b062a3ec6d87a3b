/** Suggested skills: a decision that is refused leaves the suggestion as it was, so that it can be decided on differently. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { AdminAudit } from '../../../src/audit/admin-audit.ts';
import { toCaller } from '../../../src/access/policy/caller.ts';
import { SETUP_TOKEN } from '../../../src/shared/identity/principal.ts';
import { SuggestionService } from '../../../src/search/skills/suggestion-service.ts';
import { writeSuggestions } from '../../../src/search/skills/suggestion-store.ts';
import { createPortico, register } from '../support/portico.ts';

const PATH = '/api/v1/skills';
const portico = createPortico();
const admin = toCaller(SETUP_TOKEN, { defaultAccess: 'open', rules: [], toolsets: [] });
let made = 0;

/** Suggests a skill for a tool of a new server. @returns its id, which is its name too */
async function suggest(): Promise<string> {
  const id = `suggested_${(made += 1)}`;
  const { id: server } = await register(portico, `server-${made}`, { auto_connect: false });
  const suggested = { id, name: id, description: '', tool: 'echo' };
  await env.DB.batch(writeSuggestions(env.DB, server, ['echo'], [suggested], 0));
  return id;
}
async function createSkill(): Promise<string> {
  const name = `skill_${(made += 1)}`;
  expect((await portico.api('POST', PATH, { name })).status).toBe(201);
  return name;
}
const decide = (id: string, how: 'approve' | 'merge', body: object) =>
  portico.api('POST', `${PATH}/suggestions/${id}/${how}`, body);
async function find(id: string) {
  const page = await portico.api('GET', `${PATH}/suggestions?state=any`);
  const { suggestions } = await page.json<{ suggestions: { id: string }[] }>();
  return suggestions.find(each => each.id === id);
}
const PENDING = { state: 'pending', skill_id: null, tool_count: 1 };
/** A service in whose database a skill is edited before each write. */
function createService(editedMeanwhile: string): SuggestionService {
  const edit = env.DB.prepare('UPDATE skills SET revision = revision + 1 WHERE id = ?');
  const batch = async (statements: D1PreparedStatement[]) => {
    if (statements.length > 1) await edit.bind(editedMeanwhile).run();
    return env.DB.batch(statements);
  };
  const db = { prepare: (sql: string) => env.DB.prepare(sql), batch } as unknown as D1Database;
  return new SuggestionService({
    db,
    adminAudit: new AdminAudit(db),
    embedding: () => Promise.reject(new Error('not needed')),
    invalidateRegistry() {},
  });
}

it('[AG-US3-AC8] a suggestion stays pending if the name that it is approved under is taken', async () => {
  const [id, name] = [await suggest(), await createSkill()];
  expect((await decide(id, 'approve', { name })).status).toBe(409);
  expect(await find(id)).toMatchObject(PENDING);
  const approved = await decide(id, 'approve', { name: `${name}_too` });
  expect([approved.status, await approved.json()]).toMatchObject([200, { id }]);
  expect(await find(id)).toMatchObject({ state: 'approved', skill_id: id, tool_count: 0 });
  expect((await portico.api('GET', `${PATH}/${id}`)).status).toBe(200);
  expect((await decide(id, 'approve', {})).status).toBe(409);
});

it('[AG-US3-AC8] a suggestion stays pending if the skill it is merged into changes meanwhile', async () => {
  const [id, skill] = [await suggest(), await createSkill()];
  const merging = createService(skill).merge(admin, id, skill);
  await expect(merging).rejects.toMatchObject({ code: 'busy' });
  expect(await find(id)).toMatchObject(PENDING);
  const merged = await decide(id, 'merge', { skill_id: skill });
  expect([merged.status, await merged.json()]).toMatchObject([200, { examples: [id] }]);
  expect(await find(id)).toMatchObject({ state: 'merged', skill_id: skill, tool_count: 0 });
});
