import { outcomeText } from '@pitboss/fairness/round-line'
import type { Round } from '../api/records.ts'
import type { TableParts } from './game-definition.ts'
import { moneyText, multiplierText } from '@pitboss/money/money-text'

/** The player's rounds of this game; each can be verified. */
export function History(parts: TableParts) {
  const { table, state } = parts
  return (
    <section class="card" aria-labelledby="history-title">
      <h2 id="history-title">Your rounds</h2>
      {state.history.length === 0 ? (
        <p class="quiet">Your rounds will be listed here, each with its proof.</p>
      ) : (
        <ol class="history" data-testid="history">
          {state.history.map((round) => (
            <HistoryRow key={round.round_id} {...parts} round={round} />
          ))}
        </ol>
      )}
      {state.historyCursor === null ? null : (
        <button type="button" class="button quiet-button" onClick={() => void table.moreHistory()}>
          Show older rounds
        </button>
      )}
    </section>
  )
}

function HistoryRow({ definition, round, onVerify }: TableParts & { round: Round }) {
  const { nonce } = round.fairness
  const won = round.outcome?.won === true
  const counted = round.status === 'SETTLED'
  const stake = round.free_bet ? 'free bet' : moneyText(round.stake, round.currency)
  return (
    <li data-result={counted ? (won ? 'won' : 'lost') : 'returned'}>
      <span class="nonce quiet" title="Nonce">
        #{nonce}
      </span>
      <span class="what">
        <span>{counted ? outcomeText(round) : 'Did not count'}</span>
        <small class="quiet">
          {definition.betText(round)} · {stake}
        </small>
      </span>
      <span class="result">
        <strong>{counted ? moneyText(round.payout ?? '0', round.currency) : 'stake kept'}</strong>
        <small class="quiet">
          {round.end_reason === 'win_failed'
            ? 'not paid by your casino'
            : counted && won
              ? multiplierText(round.multiplier ?? '0')
              : ''}
        </small>
      </span>
      <button
        type="button"
        class="link"
        aria-label={`Verify round number ${nonce}`}
        onClick={() => onVerify(round)}
      >
        Verify
      </button>
    </li>
  )
}
