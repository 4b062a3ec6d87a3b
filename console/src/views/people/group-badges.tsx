/** Groups that somebody is in. */
export const GroupBadges = ({ groups }: { groups: readonly string[] }) => (
  <span class="badges">
    {groups.map(group => (
      <span key={group} class="badge">
        {group}
      </span>
    ))}
  </span>
);
