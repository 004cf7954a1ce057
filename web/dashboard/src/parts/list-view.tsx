import type { TailKind } from '@pitboss/contracts/objects/tail'
import { type ReactNode, useRef } from 'react'
import * as z from 'zod'
import { Link } from 'wouter'
import type { QueryValues } from '../api/create-api.ts'
import { useFilters, windowFields } from '../hooks/use-filters.ts'
import { useRead } from '../hooks/use-read.ts'
import { useDashboard } from '../session/dashboard-context.ts'
import { type Column, DataTable } from './data-table.tsx'
import { Empty } from './empty.tsx'
import { Field } from './field.tsx'
import { LiveTail } from './live-tail.tsx'
import { ListTools } from './list-tools.tsx'
import { Panel } from './panel.tsx'
import { RangeField, windowOf } from './range-field.tsx'
import { textOf } from './text-of.ts'

export type Filter = {
  readonly name: string
  readonly label: string
  /** Without options it is text. */
  readonly options?: readonly string[]
}

export type ListViewProps<Row> = {
  readonly label: string
  /** Below `/v1/`. */
  readonly path: string
  readonly schema: z.ZodType<{ data: Row[]; next_cursor: string | null }>
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  readonly hrefOf?: (row: Row) => string
  readonly filters?: readonly Filter[]
  /** The window without a choice, in words; absent where the list has no window. */
  readonly anyTime?: string
  /** What is asked beside the filters. */
  readonly query?: QueryValues
  /** Fields of the address that are the page's; they stay in it, and the list does not ask for them. */
  readonly keeps?: readonly string[]
  /** The list names the environment of the address; default true. */
  readonly byEnvironment?: boolean
  readonly everyMs?: number | false
  /** Shown when nothing is there at all. */
  readonly empty: ReactNode
  /** What can be followed as it happens, and the schema of one record. */
  readonly follow?: { readonly kind: TailKind; readonly record: z.ZodType<Row> }
  /** The list answers a cursor also after its last page. */
  readonly endless?: boolean
}

/** What a list is, wherever it stands. */
export type ListOf<Row> = Pick<
  ListViewProps<Row>,
  'path' | 'schema' | 'columns' | 'keyOf' | 'hrefOf' | 'everyMs' | 'empty'
>

const perPage = 50
const none: readonly Filter[] = []
const noNames: readonly string[] = []

/** A list of the API with its filters and pages in the address. */
export function ListView<Row>(props: ListViewProps<Row>) {
  const { label, path, schema, columns, keyOf, hrefOf, filters: defined = none, anyTime, empty } = props
  const {
    query = {},
    keeps = noNames,
    byEnvironment = true,
    everyMs = false,
    endless = false,
    follow,
  } = props
  const { environment } = useDashboard()
  const fields = Object.fromEntries(defined.map(({ name, options }) => [name, fieldOf(options)]))
  const { filters, set, addressWith } = useFilters({
    ...(anyTime === undefined ? {} : windowFields),
    ...fields,
    ...Object.fromEntries(keeps.map((name) => [name, fieldOf(undefined)])),
    cursor: windowFields.cursor,
  })
  const { cursor, range, from, to, ...named } = filters as Readonly<Record<string, string>>
  const chosen = Object.fromEntries(Object.entries(named).filter(([name]) => !keeps.includes(name)))
  const window = { ...(range && { range }), ...(from && { from }), ...(to && { to }) }
  const fixed = { ...(byEnvironment ? { environment } : {}), ...query }
  // A cursor carries the filters of its list, the window of the first page among them.
  const ask = () => (cursor === undefined ? { ...fixed, ...chosen, ...windowOf(window) } : { cursor })
  const read = useRead(schema, path, ask, { everyMs: cursor === undefined ? everyMs : false }, [
    fixed,
    filters,
  ])
  const cleared = Object.fromEntries(
    [...defined.map(({ name }) => name), 'range', 'from', 'to'].map((name) => [name, null]),
  )
  const around = useRef<HTMLElement>(null)
  const filtered = Object.keys(chosen).length > 0 || Object.keys(window).length > 0
  return (
    <section aria-label={label} ref={around}>
      {(defined.length > 0 || anyTime !== undefined) && (
        <div className="filters" role="search" aria-label={`Filters of ${label}`}>
          {defined.map((filter) => (
            <FilterField key={filter.name} filter={filter} value={chosen[filter.name] ?? ''} set={set} />
          ))}
          {anyTime !== undefined && <RangeField window={window} anyTime={anyTime} set={set} />}
          {filtered && (
            <button type="button" className="button quiet-button" onClick={() => set(cleared)}>
              Clear filters
            </button>
          )}
        </div>
      )}
      {follow !== undefined && (
        <LiveTail
          {...{ label, columns, keyOf }}
          kind={follow.kind}
          schema={follow.record}
          query={{ environment, ...chosen }}
          {...(hrefOf === undefined ? {} : { hrefOf })}
        />
      )}
      <Panel read={read}>
        {({ data, next_cursor }) => (
          <>
            {data.length === 0 ? (
              filtered || cursor !== undefined ? (
                <Empty title="Nothing matches">
                  <p>Nothing fits these filters. Widen the time, or clear them.</p>
                </Empty>
              ) : (
                empty
              )
            ) : (
              <DataTable
                label={label}
                rows={data}
                columns={columns}
                keyOf={keyOf}
                {...(hrefOf === undefined ? {} : { hrefOf })}
              />
            )}
            <div className="list-foot">
              <nav className="pager" aria-label={`Pages of ${label}`}>
                {cursor !== undefined && (
                  <Link href={addressWith({})} data-page="first">
                    First page
                  </Link>
                )}
                {next_cursor !== null && (!endless || data.length >= perPage) && (
                  <Link href={addressWith({ cursor: next_cursor })} data-page="next">
                    Next page
                  </Link>
                )}
              </nav>
              {data.length > 0 && <ListTools label={label} path={path} query={ask()} around={around} />}
            </div>
          </>
        )}
      </Panel>
    </section>
  )
}

const fieldOf = (options: readonly string[] | undefined): z.ZodType<string> =>
  options === undefined ? z.string().max(128) : z.enum(options)

type FilterFieldProps = {
  filter: Filter
  value: string
  set: (changes: Readonly<Record<string, string | null>>) => void
}

function FilterField({ filter: { name, label, options }, value, set }: FilterFieldProps) {
  if (options === undefined)
    return (
      <form
        onSubmit={(event) => {
          event.preventDefault()
          set({ [name]: textOf(new FormData(event.currentTarget), name) })
        }}
      >
        <Field label={label}>
          <input
            key={value}
            type="search"
            onBlur={(event) =>
              event.target.value.trim() !== value && set({ [name]: event.target.value.trim() })
            }
            name={name}
            defaultValue={value}
            maxLength={128}
            enterKeyHint="search"
          />
        </Field>
      </form>
    )
  return (
    <Field label={label}>
      <select value={value} onChange={(event) => set({ [name]: event.target.value })}>
        <option value="">All</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
    </Field>
  )
}
