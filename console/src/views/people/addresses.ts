/** Addresses within this view. */

/** The page of a principal. */
export const toAddress = (principal: string) =>
  `/people?principal=${encodeURIComponent(principal)}`;

/** The list of providers. */
export const PROVIDERS = '/people?tab=providers';

/** The page of a provider. */
export const toProviderAddress = (id: string) => `${PROVIDERS}&provider=${encodeURIComponent(id)}`;
