/** Props of every view. */
import type { Me } from './api/me.ts';

export interface ViewProps {
  me: Me;
}
