/** What every view is given. */
import type { Me } from './api/me.ts';

export interface ViewProps {
  me: Me;
}
