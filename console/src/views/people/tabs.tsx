/** The parts of this view, as links. */
import { Tabs } from '../../parts/tabs.tsx';

const TABS = [
  ['', 'Principals'],
  ['invitations', 'Invitations'],
  ['providers', 'Sign-in providers'],
] as const;

export const PeopleTabs = () => <Tabs label="people" path="/people" tabs={TABS} />;
