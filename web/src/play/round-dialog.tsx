import { explainRound } from '../parts/explain-round.ts'
import { verifyRound } from '@pitboss/fairness/verify-round'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Round } from '../api/records.ts'
import { CheckList } from '../parts/check-list.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { DrawSteps } from '../parts/draw-steps.tsx'
import { roundFragment } from '../parts/round-fragment.ts'
import type { GameDefinition } from './game-definition.ts'

/**
 * The proof of one round, computed in this browser from the round alone and from the commitment that was
 * shown before.
 */
export function RoundDialog({
  definition,
  round,
  shownHash,
  onClose,
}: {
  definition: GameDefinition
  round: Round
  /** The commitment that this page showed before the bet; null for rounds of earlier visits. */
  shownHash: string | null
  onClose: () => void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const { checks, explanation } = useMemo(
    () => ({ checks: checksOf(round, shownHash), explanation: explainRound(round) }),
    [round, shownHash],
  )
  const valid = checks.every(({ ok }) => ok)
  return (
    <dialog ref={dialog} class="proof" aria-labelledby="proof-title" onClose={onClose}>
      <div class="dialog-head">
        <h2 id="proof-title">Round #{round.fairness.nonce}</h2>
        <button type="button" class="button quiet-button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <p class="quiet">
        {definition.title} · {definition.betText(round)} · <code>{round.round_id}</code>
      </p>
      <p class="verdict" data-valid={valid ? 'yes' : 'no'} data-testid="verdict">
        {valid ? 'Verified: every check holds.' : 'Not verified: at least one check fails.'}
      </p>
      <CheckList checks={checks} />
      {explanation === null ? null : <DrawSteps explanation={explanation} round={round} />}
      <div class="dialog-foot">
        <CopyButton text={JSON.stringify(round, null, 2)} what="round as JSON" label="Copy round" />
        <a
          class="link"
          href={`/v1/public/verify#${roundFragment(round)}`}
          target="_blank"
          rel="noopener noreferrer"
        >
          Open on the verify page
        </a>
      </div>
    </dialog>
  )
}

function checksOf(round: Round, shownHash: string | null) {
  const { checks } = verifyRound(round)
  if (shownHash === null) return checks
  const actual = round.fairness.server_seed_hash
  const promised = {
    name: 'commitment as shown before the bet',
    ok: shownHash === actual,
    expected: shownHash,
    actual,
  }
  return [promised, ...checks]
}
