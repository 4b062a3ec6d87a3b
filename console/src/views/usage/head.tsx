/** The heading of the view of usage, and for administrators its parts. */
import { Tabs } from '../../parts/tabs.tsx';

const TABS = [
  ['', 'Calls'],
  ['budgets', 'Budgets'],
] as const;

export const UsageHead = ({ isAdmin = true }: { isAdmin?: boolean }) => (
  <>
    <h1>Usage</h1>
    {isAdmin ? <Tabs label="usage" path="/usage" tabs={TABS} /> : null}
  </>
);
