import type { Round } from '../api/records.ts'
import type { TableParts } from './game-definition.ts'
import { roundLine } from '@pitboss/fairness/round-line'
import { multiplierText } from '@pitboss/money/money-text'
import type { TableState, Waiting } from './table-state.ts'
import { useReceipt } from './use-receipt.ts'
import { useSecondsUntil } from './use-seconds-until.ts'

const waitingTexts: Readonly<Record<Waiting, string>> = {
  confirming:
    'Your bet is being confirmed with your casino. It counts once or not at all; you can wait here or come back later.',
  paying: 'You won. Your casino is confirming the payout; it will not get lost.',
  reconnecting: 'The connection is slow. Trying again; nothing counts twice.',
}

/** One line that says what happens now or how the round ended; read out by screen readers. */
export function StatusLine({ table, state, onVerify }: TableParts) {
  const { tone, text, round } = lineOf(state)
  const line = useReceipt(table, round)
  const held = isHeld(state)
  return (
    <div class="status-line" data-tone={tone}>
      <p ref={line} role="status" aria-live="polite" data-testid="status">
        {tone === 'waiting' ? <span class="spinner" aria-hidden="true" /> : null}
        {text}
      </p>
      {held ? <Countdown untilMs={state.heldUntilMs ?? 0} /> : null}
      {round === null ? null : (
        <button type="button" class="link" onClick={() => onVerify(round)} data-testid="verify-last">
          Verify this round
        </button>
      )}
    </div>
  )
}

const heldText = 'That was too quick. Nothing was taken; the next game can start soon.'

/** The service has refused a bet that came too early. */
function isHeld({ heldUntilMs, activity, waiting }: TableState): boolean {
  return heldUntilMs !== null && activity === 'idle' && waiting === null
}

/** Counts down beside the line, which is read out once. */
function Countdown({ untilMs }: { untilMs: number }) {
  const leftS = useSecondsUntil(untilMs, true)
  return (
    <span role="timer" data-testid="held">
      {leftS} s
    </span>
  )
}

type Line = {
  tone: 'quiet' | 'waiting' | 'problem' | 'info' | 'won' | 'lost'
  text: string
  round: Round | null
}

function lineOf(state: TableState): Line {
  const { round, activity, waiting, notice, ended } = state
  if (isHeld(state)) return { tone: 'info', text: heldText, round: null }
  if (waiting !== null) return { tone: 'waiting', text: waitingTexts[waiting], round: null }
  if (notice !== null && activity === 'idle') {
    return { tone: notice.tone, text: notice.text, round: null }
  }
  if (activity === 'placing') return { tone: 'quiet', text: 'Placing your bet…', round: null }
  if (activity === 'showing') return { tone: 'quiet', text: 'Settling the round…', round: null }
  if (round === null) {
    return {
      tone: 'quiet',
      text: ended === null ? 'Choose your stake and place a bet.' : 'No new rounds in this session.',
      round: null,
    }
  }
  if (round.status === 'OPEN') return { tone: 'quiet', text: openText(round), round: null }
  const text = roundLine(round)
  if (text === null) return { tone: 'info', text: 'This bet did not count.', round }
  return { tone: round.outcome?.won === true ? 'won' : 'lost', text, round }
}

function openText({ progress, multiplier }: Round): string {
  const opened = progress?.tiles_opened.length ?? 0
  if (opened === 0) return 'Your stake is placed. Open a tile.'
  const tiles = opened === 1 ? '1 safe tile' : `${opened} safe tiles`
  return `${tiles}, ${multiplierText(multiplier ?? '0')} now. Open another, or cash out.`
}
