import type { Dossier } from '@pitboss/contracts/objects/dossier'
import { Facts } from '../parts/facts.tsx'
import { Moment } from '../parts/moment.tsx'

type Receipt = NonNullable<Dossier['receipt']>

const texts: Readonly<Record<Receipt['state'], string>> = {
  AGREES: 'The page showed what the records say.',
  DIFFERS: 'The page showed something else than the records say.',
  UNCHECKED: 'The page was shown in another language or release, whose text cannot be compared here.',
}
const ofAnotherPage =
  'The sentence is what the records say, but its page is none that this installation served for the game when the receipt came: of another release, or not ours.'

function textOf({ state, reason }: Receipt): string {
  return reason === 'build' ? ofAnotherPage : texts[state]
}

/** What the player's page showed of the round's end, beside what the records say. */
export function RoundReceipt({ of: { receipt } }: { of: Pick<Dossier, 'receipt'> }) {
  return (
    <>
      <h2>What the player saw</h2>
      {receipt === null ? (
        <p className="about">Without a receipt: no page has told what it showed.</p>
      ) : (
        <section className="card" aria-label="What the player saw">
          <p className="notice" data-tone={receipt.state === 'DIFFERS' ? 'problem' : 'info'}>
            {textOf(receipt)}
          </p>
          <Facts
            facts={{
              'The page showed': receipt.text,
              ...(receipt.state === 'DIFFERS' ? { 'The records say': receipt.expected } : {}),
              Received: <Moment at={receipt.received_at} />,
              'Build of the page': <code>{receipt.build}</code>,
              Language: receipt.language,
              Hash: <code>{receipt.hash}</code>,
            }}
          />
        </section>
      )}
    </>
  )
}
