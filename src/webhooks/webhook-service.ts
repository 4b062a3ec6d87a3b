/**
 * Webhooks: creates, reads, edits, deletes and tests them, rotates their secrets, and retries deliveries that were given up. A secret is
 * shown once, when it is generated; an address is never shown, since for some receivers it is the only credential.
 */
import { ALWAYS } from '../audit/admin-audit.ts';
import { decideAddress } from '../http/address-policy.ts';
import { patched } from '../records/record-schema.ts';
import { updateRecord, whereNamed, whenUnchanged } from '../records/record-store.ts';
import {
  createEditedRecords,
  requireRecord,
  type EditedKind,
  type EditedRecords,
  type RecordPorts,
} from '../records/records.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { fieldProblem } from '../shared/errors/field-problems.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { requireScope, type Actor } from '../shared/identity/principal.ts';
import type { ListPage } from '../shared/util/page.ts';
import type { DeliveryState, StoredDelivery } from './delivery-schema.ts';
import { findDelivery, listDeliveries, reviveDelivery, whenDead } from './delivery-store.ts';
import { toBody } from './event-body.ts';
import { TEST_EVENT } from './event-types.ts';
import { GIVE_UP_MS } from './pace.ts';
import { send, type Sent } from './send.ts';
import { createSecret } from './signature.ts';
import { openTarget, sealTarget, type Target } from './sealed-address.ts';
import type {
  CreateWebhook,
  StoredWebhook,
  UpdateWebhook,
  WebhookQuery,
} from './webhook-schema.ts';
import { MAX_WEBHOOKS, WEBHOOKS } from './webhook-store.ts';

/** How long a replaced secret continues to sign, in milliseconds. */
const FORMER_MS = 86_400_000;

export interface WebhookPorts extends RecordPorts {
  keys: KeyRing;
  allowsLoopback: boolean;
  /** Makes the deployment's object deliver what is due. */
  wakeWebhooks(): Promise<unknown>;
}

/** A webhook with its secret, which is shown once. */
export interface WithSecret {
  webhook: StoredWebhook;
  secret: string;
}

type Verbs = EditedRecords<StoredWebhook, CreateWebhook, WebhookQuery, UpdateWebhook>;

export interface Webhooks extends Omit<Verbs, 'create'> {
  /** @throws PorticoError `forbidden`, `validation_failed`, `conflict` */
  create(caller: Actor, body: CreateWebhook): Promise<WithSecret>;
  /** Replaces the secret; the previous one also signs for a day. @throws PorticoError `forbidden`, `not_found`, `busy`, `conflict` */
  rotate(caller: Actor, key: string): Promise<WithSecret>;
  /** Sends one test event, without retries. @throws PorticoError `forbidden`, `not_found`, `conflict` */
  test(caller: Actor, key: string): Promise<Sent>;
  /** Lists one page of its deliveries, newest first. @throws PorticoError `forbidden`, `not_found` */
  deliveries(
    caller: Actor,
    key: string,
    state: DeliveryState | undefined,
    limit: number,
    before?: number,
  ): Promise<ListPage<StoredDelivery> & { total: number }>;
  /** Retries a delivery that was given up. @throws PorticoError `forbidden`, `not_found`, `conflict` where it was not given up */
  retry(caller: Actor, key: string, deliveryId: string): Promise<StoredDelivery>;
}

type Made = CreateWebhook & { secret: string };

export function createWebhooks({ db, keys, adminAudit, ...ports }: WebhookPorts): Webhooks {
  const { allowsLoopback, wakeWebhooks } = ports;
  const originOf = (url: string): string => {
    const decision = decideAddress(url, allowsLoopback);
    if (!decision.allowed) throw fieldProblem('url', decision.reason);
    return decision.url.origin;
  };
  const open = async (webhook: StoredWebhook): Promise<Target> => {
    const target = await openTarget(keys, webhook);
    if (target) return target;
    throw new PorticoError('conflict', 'Its key is not in the ring; delete it and make it again');
  };

  const kind: EditedKind<StoredWebhook, Made, WebhookQuery, UpdateWebhook> = {
    table: WEBHOOKS,
    noun: 'webhook',
    missing: 'No such webhook',
    filter: ({ name }) => whereNamed(name),
    // The change is made, and a secret is shown only now: a failure here must not hide that. The object comes to it with the next event.
    onChanged: verb => (verb === 'delete' ? undefined : wakeWebhooks().catch(() => {})),
    whyNot: () =>
      new PorticoError(
        'conflict',
        `There is a webhook of this name already, or there are ${MAX_WEBHOOKS}`,
      ),
    async make({ url, secret, enabled, ...given }, _servers, stamp) {
      const bound = { id: stamp.id, origin: originOf(url) };
      const sealed = await sealTarget(keys, bound, { url, secret });
      return { ...stamp, ...given, ...bound, sealed, is_enabled: enabled, pending: 0, dead: 0 };
    },
    async edit(before, { url, enabled, ...patch }) {
      const after = patched(before, { ...patch, is_enabled: enabled });
      if (url === undefined) return after;
      const bound = { id: before.id, origin: originOf(url) };
      return {
        ...after,
        ...bound,
        sealed: await sealTarget(keys, bound, { ...(await open(before)), url }),
      };
    },
    toDetail: ({ name, origin, format, events, is_enabled }) => ({
      name,
      origin,
      format,
      events,
      enabled: is_enabled,
    }),
  };
  const records = createEditedRecords({ db, adminAudit }, kind);
  const find = (key: string) => requireRecord(db, kind, key);

  return {
    ...records,

    async create(caller, body) {
      const secret = createSecret();
      return { webhook: await records.create(caller, { ...body, secret }, []), secret };
    },

    rotate(caller, key) {
      const act = { action: 'webhook.rotate', subject: key };
      return adminAudit.perform(caller, 'admin', act, async commit => {
        const webhook = await find(key);
        act.subject = webhook.id;
        const { url, secret: former } = await open(webhook);
        const secret = createSecret();
        const now = Date.now();
        const target = { url, secret, former: { secret: former, until: now + FORMER_MS } };
        const sealed = await sealTarget(keys, webhook, target);
        const record = { ...webhook, sealed, updated_at: now };
        const isDone = await commit({
          when: whenUnchanged(WEBHOOKS, record),
          statements: [updateRecord(db, WEBHOOKS, record)],
          detail: { name: webhook.name },
        });
        if (!isDone) throw new PorticoError('busy', 'It was changed meanwhile; try again');
        return { webhook: await find(webhook.id), secret };
      });
    },

    test(caller, key) {
      const act = { action: 'webhook.test', subject: key };
      return adminAudit.perform(caller, 'admin', act, async commit => {
        const webhook = await find(key);
        act.subject = webhook.id;
        const data = { webhook: { id: webhook.id, name: webhook.name } };
        const event = { type: TEST_EVENT, occurredAt: Date.now(), data };
        const message = {
          id: `msg_${crypto.randomUUID().replaceAll('-', '')}`,
          body: toBody(webhook.format, event),
        };
        const sent = await send(await open(webhook), message, allowsLoopback);
        const detail = { name: webhook.name, delivered: sent.isDelivered, status: sent.status };
        await commit({ when: ALWAYS, statements: [], detail });
        return sent;
      });
    },

    async deliveries(caller, key, state, limit, before) {
      requireScope(caller, 'admin');
      const { id } = await find(key);
      return listDeliveries(db, id, state, limit, before);
    },

    retry(caller, key, deliveryId) {
      const act = { action: 'webhook.retry', subject: key };
      return adminAudit.perform(caller, 'admin', act, async commit => {
        const { id } = await find(key);
        act.subject = id;
        const now = Date.now();
        const isDone = await commit({
          when: whenDead(id, deliveryId),
          statements: [reviveDelivery(db, id, deliveryId, { now, giveUpAt: now + GIVE_UP_MS })],
          detail: { delivery: deliveryId },
        });
        const delivery = await findDelivery(db, id, deliveryId);
        if (!delivery) throw new PorticoError('not_found', 'No such delivery');
        if (!isDone) throw new PorticoError('conflict', `It is ${delivery.state}, not given up`);
        // It is pending again; if the object cannot be woken, it comes to it with the next event.
        await wakeWebhooks().catch(() => {});
        return delivery;
      });
    },
  };
}
