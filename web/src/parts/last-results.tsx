/** @jsxImportSource preact */
import type { Round } from '../api/records.ts'

const shownMax = 8

/** Results of the last rounds, the newest first, in a word each; those without room are cut off. */
export function LastResults({
  history,
  label,
  text,
}: {
  history: readonly Round[]
  label: string
  text: (round: Round) => string
}) {
  return (
    <ul class="last-results" aria-label={label}>
      {history
        .filter((past) => past.outcome !== null)
        .slice(0, shownMax)
        .map((past) => (
          <li key={past.round_id} data-result={past.outcome?.won === true ? 'won' : 'lost'}>
            {text(past)}
          </li>
        ))}
    </ul>
  )
}
