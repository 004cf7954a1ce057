import type { ReactNode } from 'react'

/** Names and values of one thing; an undefined value is left out. */
export function Facts({ facts }: { facts: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className="facts-list">
      {Object.entries(facts).map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value === null || value === '' ? <span className="quiet">–</span> : value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}
