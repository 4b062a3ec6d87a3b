/** Where things of this view are found. */

/** The page of a principal. */
export const toAddress = (principal: string) =>
  `/people?principal=${encodeURIComponent(principal)}`;
