/** `/api/v1/invitations`: create, list, get, delete. A code appears only in the response that created it. */
import { z } from 'zod';
import {
  CreateInvitationSchema,
  InvitationViewSchema,
  OfPrincipalSchema,
  toInvitationView,
} from '../sign-in/invitation-schema.ts';
import type { Api, ApiPorts } from './frame.ts';
import { registerCreate, registerList, registerOne } from './records.ts';

const resource = {
  path: '/api/v1/invitations',
  tag: 'principals',
  name: 'Invitation',
  noun: 'invitation',
  phrase: 'an invitation',
  view: InvitationViewSchema.meta({ id: 'Invitation' }),
  example: {
    id: '0c1d2e3f-4a5b-4c6d-8e7f-9a0b1c2d3e4f',
    principal: '2f6d8c1a-93f4-4b51-8a5e-6a0a4a9b7c11',
    principal_name: 'Ada',
    created_at: '2026-11-02T09:00:00.000Z',
    expires_at: '2026-11-03T09:00:00.000Z',
  },
  toView: toInvitationView,
  get: { description: 'Without its code.' },
  delete: { description: 'Its code no longer signs anybody in.' },
};

const toPath = (code: string) => `/sign-in#${code}`;

const created = {
  schema: CreateInvitationSchema.meta({ id: 'CreateInvitation' }),
  example: { principal: resource.example.principal },
  description:
    'Its code signs the principal in with a browser, once. The code is shown only in this answer.',
  problems: ['conflict'] as const,
  answer: {
    description: 'The invitation with its code',
    schema: InvitationViewSchema.extend({
      code: z.string(),
      path: z.string().meta({ description: 'Page of the gateway on which to enter it' }),
    }).meta({ id: 'IssuedInvitation' }),
    example: { ...resource.example, code: '…', path: toPath('…') },
  },
};

const listed = {
  operationId: 'listInvitations',
  summary: 'List invitations',
  description: 'Those that can be used, newest first, page by page.',
  key: 'invitations',
  page: 'InvitationPage',
  query: OfPrincipalSchema,
};

/** Adds the routes. */
export function registerInvitations(api: Api, { invitations }: ApiPorts): void {
  registerCreate(api, resource, created, async (body, { caller }) => {
    const { invitation, code } = await invitations.create(caller, body);
    const shown = { ...toInvitationView(invitation), code, path: toPath(code) };
    return { record: invitation, shown };
  });
  registerList(api, resource, listed, invitations);
  registerOne(api, resource, invitations);
}
