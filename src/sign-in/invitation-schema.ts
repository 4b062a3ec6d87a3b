/** Schemas of invitations: the API and the stored row. Neither holds the code. */
import { z } from 'zod';

/** Lifetime of an invitation, in seconds: ten minutes to a week, a day by default. */
const [MIN_SECONDS, DEFAULT_SECONDS, MAX_SECONDS] = [600, 86_400, 604_800];

/** A row of `invitations`; times in milliseconds since the epoch. */
export const InvitationSchema = z.object({
  id: z.string(),
  principal_id: z.string(),
  principal_name: z.string(),
  created_at: z.number(),
  expires_at: z.number(),
});
export type Invitation = z.infer<typeof InvitationSchema>;

/** Body of `POST /api/v1/invitations`. */
export const CreateInvitationSchema = z.strictObject({
  principal: z.string().min(1).max(100).meta({ description: 'Id of the principal that signs in' }),
  valid_seconds: z.number().int().min(MIN_SECONDS).max(MAX_SECONDS).default(DEFAULT_SECONDS).meta({
    description: 'How long it can be used',
  }),
});
export type CreateInvitation = z.infer<typeof CreateInvitationSchema>;

/** Filter of the list. */
export const OfPrincipalSchema = z.strictObject({
  principal: z.string().min(1).max(100).optional().meta({
    description: 'Only those of the principal with this id',
  }),
});
export type OfPrincipal = z.infer<typeof OfPrincipalSchema>;

export const InvitationViewSchema = z.object({
  id: z.string(),
  principal: z.string().meta({ description: 'Id of the principal that signs in' }),
  principal_name: z.string(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});

/** Turns an invitation into its API form. */
export const toInvitationView = (invitation: Invitation): z.infer<typeof InvitationViewSchema> => ({
  id: invitation.id,
  principal: invitation.principal_id,
  principal_name: invitation.principal_name,
  created_at: new Date(invitation.created_at).toISOString(),
  expires_at: new Date(invitation.expires_at).toISOString(),
});
