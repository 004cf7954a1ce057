import type { Sentence } from '@pitboss/contracts/objects/dossier'
import { Link } from 'wouter'

const places = {
  transaction: '/transactions',
  delivery: '/deliveries',
  endpoint: '/endpoints',
  event: '/events',
} as const

/** Why something waits, in sentences; what they are about is one press away. */
export function Sentences({ of: sentences }: { of: readonly Sentence[] }) {
  // One link to each thing is enough.
  const first = (at: number) =>
    sentences.findIndex(({ about }) => about?.id === sentences[at]?.about?.id) === at
  return (
    <ul className="sentences">
      {sentences.map(({ text, about }, at) => (
        <li key={`${at} ${text}`}>
          {text}{' '}
          {about !== null && first(at) && (
            <Link href={`${places[about.type]}/${encodeURIComponent(about.id)}`}>
              Show<span className="unseen"> the {about.type}</span>
            </Link>
          )}
        </li>
      ))}
    </ul>
  )
}
