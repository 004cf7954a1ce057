import icon from '../parts/verify-icon.svg'
import { explainRound } from '../parts/explain-round.ts'
import { verifyRound } from '@pitboss/fairness/verify-round'
import { useMemo, useState } from 'preact/hooks'
import { CheckList } from '../parts/check-list.tsx'
import { DrawSteps } from '../parts/draw-steps.tsx'

/** Paste a round, see every check and every step of its draw. Nothing leaves the browser. */
export function VerifyPage({ initialText }: { initialText: string }) {
  const [text, setText] = useState(initialText)
  const [submitted, setSubmitted] = useState(initialText)
  const judgement = useMemo(() => (submitted.trim() === '' ? null : judge(submitted)), [submitted])

  const submit = (event: Event) => {
    event.preventDefault()
    setSubmitted(text)
  }
  const show = (next: string) => {
    setText(next)
    setSubmitted(next)
  }
  const readFile = (input: HTMLInputElement) => {
    const [file] = input.files ?? []
    if (file === undefined) return
    file.text().then(show, () => show(''))
  }

  return (
    <main class="verify">
      <header>
        <img src={icon} alt="" width="44" height="44" />
        <div>
          <h1>Verify a round</h1>
          <p class="quiet">
            Paste a finished round, or its <code>round.completed</code> event. Commitment, draw, outcome,
            multiplier and payout are computed again here, in your browser. Nothing is sent anywhere.
          </p>
        </div>
      </header>
      <form class="card" onSubmit={submit}>
        <label for="round">Round or event, as JSON</label>
        <textarea
          id="round"
          rows={12}
          spellcheck={false}
          autocomplete="off"
          placeholder='{ "round_id": "rnd_…", "game": "dice", "fairness": { … } }'
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <div class="actions">
          <button type="submit" class="button main-button">
            Verify
          </button>
          <label class="button quiet-button file">
            Open a file
            <input
              type="file"
              accept=".json,application/json"
              onChange={(event) => readFile(event.currentTarget)}
            />
          </label>
          <button
            type="button"
            class="button quiet-button"
            onClick={() => show(JSON.stringify(exampleRound, null, 2))}
          >
            Show an example
          </button>
        </div>
      </form>
      <div role="status" aria-live="polite">
        {judgement === null ? null : judgement.readable ? (
          <p class="verdict" data-valid={judgement.valid ? 'yes' : 'no'} data-testid="verdict">
            {judgement.valid ? 'Valid: every check holds.' : 'Not valid: at least one check fails.'}
          </p>
        ) : (
          <p class="verdict" data-valid="no" data-testid="verdict">
            {judgement.problem}
          </p>
        )}
      </div>
      {judgement?.readable === true ? (
        <section class="card" aria-label="Checks">
          <h2>Checks</h2>
          <CheckList checks={judgement.checks} />
          {judgement.explanation === null ? null : (
            <DrawSteps explanation={judgement.explanation} round={judgement.round} />
          )}
        </section>
      ) : null}
    </main>
  )
}

/** A round of mines for people who have none at hand; it verifies as any other. */
const exampleRound = {
  round_id: 'rnd_01jd3m8x5v9k2t7q4w6e0r1y3z',
  game: 'mines',
  status: 'SETTLED',
  stake: '2.00',
  payout: '2.95',
  currency: 'EUR',
  bet: { mines: 3 },
  multiplier: '1.4785',
  outcome: { tiles_opened: [12, 7, 2], bomb_positions: [18, 8, 20], won: true },
  fairness: {
    algorithm: 'fair-v1',
    server_seed_hash: '5d438d32aa1acddab769df6db5bb756ead43ba86131ef80b00ae089d01103315',
    client_seed: 'my-own-seed',
    nonce: 7,
    server_seed: 'fac418b6f03d08819893aaf3f47c866892fef0aa81fa818166577d589d41d48e',
  },
  driver: 'game',
}

const charactersMax = 256 * 1024

/** Reads pasted JSON and verifies it. Never throws. */
function judge(text: string) {
  if (text.length > charactersMax)
    return { readable: false as const, problem: 'This is too long to be a round.' }
  const round = readJson(text)
  if (round === undefined) {
    return { readable: false as const, problem: 'This is not JSON. Paste the whole round, from { to }.' }
  }
  const { valid, checks } = verifyRound(round)
  return { readable: true as const, round, valid, checks, explanation: explainRound(round) }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
