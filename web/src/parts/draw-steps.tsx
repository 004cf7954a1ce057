import type { Explanation } from './explain-round.ts'
import type { DrawStep } from '@pitboss/fairness/fair-v1'
import { CopyButton } from './copy-button.tsx'

/** The draw, step by step, with the commands that repeat it by hand. */
export function DrawSteps({ explanation, round }: { explanation: Explanation; round: unknown }) {
  const { seeds, serverSeedHash, draws } = explanation
  const firstMessage = `${seeds.clientSeed ?? ''}:${seeds.nonce}:0`
  const steps = describeDraws(draws, round)
  const commands = [
    `printf '%s' '${seeds.serverSeed}' | sha256sum`,
    ...(draws.length === 0
      ? []
      : [`printf '%s' '${firstMessage}' | openssl dgst -sha256 -hmac '${seeds.serverSeed}'`]),
  ].join('\n')
  return (
    <section class="steps" aria-label="The draw, step by step">
      <h3>1. The secret matches its commitment</h3>
      <dl class="stacked">
        <dt>Server seed</dt>
        <dd>
          <code>{seeds.serverSeed}</code>
        </dd>
        <dt>SHA-256 of it</dt>
        <dd>
          <code data-testid="computed-hash">{serverSeedHash}</code>
        </dd>
      </dl>
      {draws.length === 0 ? null : (
        <>
          <h3>2. The draw</h3>
          <p class="quiet">
            Random 32-bit words come from HMAC-SHA256 with the server seed as key and{' '}
            <em>client seed : nonce : block</em> as message. A word times the range, without its lower 32
            bits, is the result; words that would favour some results are rejected.
          </p>
          <div class="scroll" tabIndex={0} role="group" aria-label="Draws">
            <table data-testid="draws">
              <thead>
                <tr>
                  <th scope="col">HMAC message</th>
                  <th scope="col">Word</th>
                  <th scope="col">Range</th>
                  <th scope="col">Word × range ÷ 2³²</th>
                  <th scope="col">Result</th>
                  <th scope="col">Meaning</th>
                </tr>
              </thead>
              <tbody>
                {steps.map((step, index) => (
                  <tr key={index} data-rejected={step.rejected ? 'yes' : 'no'}>
                    <td>
                      <code>{step.message}</code>
                    </td>
                    <td>
                      <code>{step.wordHex}</code> <small class="quiet">{step.word}</small>
                    </td>
                    <td>{step.range}</td>
                    <td>{step.quotient}</td>
                    <td>{step.rejected ? 'rejected' : step.result}</td>
                    <td>{step.meaning}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
      <h3>{draws.length === 0 ? '2' : '3'}. Do it yourself</h3>
      <p class="quiet">These commands print the commitment and the first block of eight words.</p>
      <pre class="scroll" tabIndex={0} role="group" aria-label="Commands">
        {commands}
      </pre>
      <CopyButton text={commands} what="commands" />
    </section>
  )
}

const wordRange = 2n ** 32n

/** One row per word of the draw, the rejected ones included. */
function describeDraws(draws: readonly DrawStep[], round: unknown) {
  const meanings = meaningsOf(draws, round)
  return draws.flatMap(({ range, words, messages, result }, draw) =>
    words.map((word, index) => {
      const rejected = index < words.length - 1
      return {
        message: messages[index] ?? '',
        word,
        wordHex: word.toString(16).padStart(8, '0'),
        range,
        quotient: quotientText(word, range),
        rejected,
        result,
        meaning: rejected ? 'would favour some results' : (meanings[draw] ?? ''),
      }
    }),
  )
}

function quotientText(word: number, range: number): string {
  const tenThousandths = (BigInt(word) * BigInt(range) * 10_000n) / wordRange
  const text = tenThousandths.toString().padStart(5, '0')
  return `${text.slice(0, -4)}.${text.slice(-4)}`
}

function meaningsOf(draws: readonly DrawStep[], round: unknown): string[] {
  const outcome = outcomeOf(round)
  const bombs = outcome.get('bomb_positions')
  if (Array.isArray(bombs)) return bombs.map((bomb) => `bomb on tile ${bomb}`)
  const angle = outcome.get('angle')
  if (typeof angle === 'string') return draws.map(() => `${angle}°, sector ${String(outcome.get('sector'))}`)
  const roll = outcome.get('roll')
  return typeof roll === 'string' ? draws.map(() => `roll ${roll}`) : []
}

/** Reads a round record, event data, or an event's envelope. */
function outcomeOf(value: unknown): ReadonlyMap<string, unknown> {
  const fields = fieldsOf(value)
  const round = fields.has('type') && fields.has('data') ? fieldsOf(fields.get('data')) : fields
  return fieldsOf(round.get('outcome'))
}

function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : new Map()
}
