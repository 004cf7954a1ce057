import type { Sitting } from '../api/records.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { clientSeedProblem, newClientSeed } from './bet-slip.ts'
import type { TableParts } from './game-definition.ts'
import { isOver, type TableState } from './table-state.ts'

/** The commitment to the next round, the player's own seed, and the proof of the last round. */
export function FairnessPanel({ state, sitting, slip, onVerify }: TableParts) {
  const problem = clientSeedProblem(slip.clientSeed)
  const { nonce, server_seed_hash } = committed(state, sitting)
  const last = state.history[0]
  return (
    <section class="card fairness" aria-labelledby="fairness-title">
      <h2 id="fairness-title">Provably fair</h2>
      <p class="quiet">
        The secret seed of round <strong>#{nonce}</strong> is fixed already: this is its fingerprint. The
        result comes from the secret and your seed together, and the secret is shown when the round is over.
      </p>
      <dl>
        <dt>Commitment (SHA-256)</dt>
        <dd class="hash">
          <code data-testid="commitment">{server_seed_hash}</code>
          <CopyButton text={server_seed_hash} what="commitment" />
        </dd>
        <dt>Nonce</dt>
        <dd>
          <code data-testid="nonce">{nonce}</code>
        </dd>
      </dl>
      <div class="field">
        <label for="client-seed">Your seed</label>
        <div class="with-button">
          <input
            id="client-seed"
            type="text"
            value={slip.clientSeed}
            maxLength={64}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            aria-invalid={problem !== null}
            aria-describedby="client-seed-hint"
            onInput={(event) => slip.setClientSeed(event.currentTarget.value)}
          />
          <button
            type="button"
            class="button quiet-button"
            onClick={() => slip.setClientSeed(newClientSeed())}
          >
            New
          </button>
        </div>
        <p id="client-seed-hint" class={problem === null ? 'quiet' : 'problem'}>
          {problem ?? seedHint(state)}
        </p>
      </div>
      {last === undefined ? null : (
        <button type="button" class="button" onClick={() => onVerify(last)}>
          Verify round #{last.fairness.nonce} in this browser
        </button>
      )}
    </section>
  )
}

/** Nonce and commitment of the round under way, else of the next one. */
function committed({ round }: TableState, { next_round }: Sitting): Sitting['next_round'] {
  return round !== null && !isOver(round) ? round.fairness : next_round
}

function seedHint({ round }: TableState): string {
  return round !== null && !isOver(round)
    ? `For the next round. This one is played with ${round.fairness.client_seed ?? 'no seed of yours'}.`
    : 'Change it as you like: nobody could know it when the commitment was made.'
}
