import { differenceKinds, type KeptDifference } from '@pitboss/contracts/objects/reconciliation'
import { Link } from 'wouter'
import { csvText } from '../parts/csv.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { saveFile } from '../parts/save-file.ts'
import { type DifferenceKind, differenceTexts, differenceWords } from './difference-texts.ts'

type DifferencesProps = {
  readonly of: readonly KeptDifference[]
  readonly counts: Readonly<Record<DifferenceKind, number>>
  /** Name of the CSV. */
  readonly name: string
}

/** What two ledgers differ in, by kind, in words; all of it as CSV. */
export function Differences({ of: differences, counts, name }: DifferencesProps) {
  const byKind = Map.groupBy(differences, ({ kind }) => kind)
  return (
    <>
      {differences.length > 0 && (
        <div className="tools">
          <button
            type="button"
            className="button quiet-button small"
            onClick={() => saveFile(`${name}.csv`, csvOf(differences), 'text/csv')}
          >
            CSV of the differences
          </button>
        </div>
      )}
      {differenceKinds.map((kind) => {
        const rows = byKind.get(kind) ?? []
        const { title, about } = differenceTexts[kind]
        if (rows.length === 0) return null
        return (
          <section key={kind} aria-label={title}>
            <h2>
              {title}: {counts[kind]}
            </h2>
            <p className="about">
              {about}
              {counts[kind] > rows.length && ` These are the first ${rows.length} of ${counts[kind]}.`}
            </p>
            <DataTable
              label={title}
              rows={rows.map((row, at) => ({ ...row, at }))}
              keyOf={({ at }) => `${at}`}
              columns={columnsOf(kind)}
            />
          </section>
        )
      })}
    </>
  )
}

function columnsOf(kind: DifferenceKind): Column<KeptDifference>[] {
  const line = { title: 'Line', number: true, cell: (one: KeptDifference) => one.line ?? '–' }
  const id = { title: 'Transaction', cell: (one: KeptDifference) => <Transaction of={one} /> }
  const told = {
    title: 'What differs',
    cell: (one: KeptDifference) => differenceWords(one).map((words) => <p key={words}>{words}</p>),
  }
  switch (kind) {
    case 'unreadable':
      return [line, { title: 'What is wrong', cell: told.cell }]
    case 'duplicate':
      return [id, line]
    case 'missing':
      return [
        id,
        { title: 'Type', cell: ({ ours }) => ours?.type ?? '–' },
        {
          title: 'Amount',
          number: true,
          cell: ({ ours }) => `${ours?.amount ?? ''} ${ours?.currency ?? ''}`,
        },
        { title: 'Player', cell: ({ ours }) => <Player id={ours?.player_id ?? ''} /> },
      ]
    case 'extra':
    case 'different':
      return [id, line, told]
  }
}

/** The id; a link where we have a movement of it. */
function Transaction({ of: { kind, transaction_id, fields } }: { of: KeptDifference }) {
  if (transaction_id === null) return '–'
  const isOurs = kind !== 'extra' || fields.length > 0
  const id = <code>{transaction_id}</code>
  return isOurs ? <Link href={`/transactions/${encodeURIComponent(transaction_id)}`}>{id}</Link> : id
}

function Player({ id }: { id: string }) {
  return <Link href={`/player?player_id=${encodeURIComponent(id)}`}>{id}</Link>
}

function csvOf(differences: readonly KeptDifference[]): string {
  const head = ['kind', 'transaction_id', 'line', 'what', 'type', 'amount', 'currency', 'player_id']
  const rows = differences.map((one) => {
    const { kind, transaction_id, line, ours } = one
    return [
      ...[kind, transaction_id ?? '', line === null ? '' : String(line), differenceWords(one).join('; ')],
      ...[ours?.type ?? '', ours?.amount ?? '', ours?.currency ?? '', ours?.player_id ?? ''],
    ]
  })
  return csvText([head, ...rows])
}
