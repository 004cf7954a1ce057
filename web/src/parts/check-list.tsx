import type { Check } from '@pitboss/fairness/check'

/** Every check of a verification with its expected and its actual value. */
export function CheckList({ checks }: { checks: readonly Check[] }) {
  return (
    <ul class="checks" data-testid="checks">
      {checks.map(({ name, ok, expected, actual }) => (
        <li key={name} data-ok={ok ? 'yes' : 'no'}>
          <span class="mark" aria-hidden="true">
            {ok ? '✓' : '✕'}
          </span>
          <span class="check-name">
            {name}
            <span class="unseen">{ok ? ' holds' : ' fails'}</span>
          </span>
          {ok ? (
            <code>{actual}</code>
          ) : (
            <span class="differs">
              <span>
                expected <code>{expected}</code>
              </span>
              <span>
                found <code>{actual}</code>
              </span>
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}
