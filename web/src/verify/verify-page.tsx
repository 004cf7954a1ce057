import { useMemo, useState } from 'preact/hooks'
import { CheckList } from '../parts/check-list.tsx'
import { DrawSteps } from '../parts/draw-steps.tsx'
import icon from '../parts/verify-icon.svg'
import { exampleRound } from './example-round.ts'
import { judge } from './judge.ts'

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
