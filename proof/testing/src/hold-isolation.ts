import { randomUUID } from 'node:crypto'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import type { Db } from 'mongodb'
import type { Test } from 'tap'
import { emptyCollections } from './empty-databases.ts'
import { type Snapshot, snapshotOf } from './database-snapshot.ts'

export type TenantScope = { readonly operatorId: string; readonly environment: 'SANDBOX' | 'LIVE' }

/** The way in which a method of a store keeps tenants apart, or the reason why it need not. */
export type Line<Ids> =
  | {
      /** Whose it is: of one environment, or of the account in both. */
      readonly reach: 'environment' | 'account'
      readonly call: (scope: TenantScope, ids: Ids) => unknown
    }
  | { readonly internal: string }

export type StoreTable<Ids> = { readonly store: object; readonly lines: Readonly<Record<string, Line<Ids>>> }

/** The ways to write a table's lines for things that are named as `Ids` says. */
export function linesFor<Ids>() {
  return {
    /** Reaches records of one account and environment. */
    scoped: (call: (scope: TenantScope, ids: Ids) => unknown): Line<Ids> => ({ reach: 'environment', call }),
    /** Reaches records of one account, the same in both environments. */
    accountWide: (call: (scope: TenantScope, ids: Ids) => unknown): Line<Ids> => ({ reach: 'account', call }),
    /** Not reached from outside; gives the reason. */
    internal: (why: string): Line<Ids> => ({ internal: why }),
    /** A store with one line for each of its methods. */
    table: <Store extends object>(
      store: Store,
      lines: Record<keyof Store & string, Line<Ids>>,
    ): StoreTable<Ids> => ({ store, lines }),
  }
}

/**
 * Holds every function that `folder` or the storage of a wing exports, and every method of every store,
 * against the tables. A method that no table names fails. For each scoped method, a stranger names the
 * owner's records: the answer must be the same as for records that were never made, and as if the owner had
 * none; none of the owner's may change. The owner's own call must have another effect, which shows that there
 * was something to hide.
 * @param stores by the name of the function that makes them
 * @param storesOfLibs stores that libs make, by the collection that they are given
 * @param others functions of the folder that reach no database by themselves
 */
export async function holdIsolation<Ids>(
  t: Test,
  given: {
    db: Db
    folder: URL
    owner: TenantScope
    ids: Ids
    neverMade: Ids
    stores: Readonly<Record<string, StoreTable<Ids>>>
    storesOfLibs?: Readonly<Record<string, StoreTable<Ids>>>
    others: readonly string[]
  },
): Promise<void> {
  const { db, folder, others, storesOfLibs = {} } = given
  const stores = { ...given.stores, ...storesOfLibs }
  await t.test("one tenant never sees or touches what is another's", async (t) => {
    const named = [...Object.keys(given.stores), ...others].toSorted()
    t.strictSame(await functionsOf(folder), named, 'every function of the folder is considered')
    const seeded = await snapshotOf(db)
    const seen = new Map<Line<Ids>, Seen[]>()
    for (const line of scopedLines(stores)) seen.set(line, await seenBy(line, given, seeded))
    await emptyCollections(db)
    const alone = new Map<Line<Ids>, string[]>()
    for (const line of scopedLines(stores)) alone.set(line, await seenAlone(line, given))
    for (const [factory, { store, lines }] of Object.entries(stores)) {
      await t.test(factory, async (t) => {
        t.strictSame(
          Object.keys(store).toSorted(),
          Object.keys(lines).toSorted(),
          'every method is considered',
        )
        for (const [method, line] of Object.entries(lines)) {
          if ('internal' in line) t.match(line.internal, /\w+ \w+ \w+/, `${method} says why it has no scope`)
          for (const [index, { name, own, foreign, unknown }] of (seen.get(line) ?? []).entries()) {
            const title = `${method}, ${name}`
            t.equal(
              foreign.answer,
              unknown.answer,
              `${title}: what is foreign and what is unknown look alike`,
            )
            t.equal(foreign.answer, alone.get(line)?.[index], `${title}: as if there were nobody else`)
            const changed = [...foreign.changed, ...unknown.changed]
            t.strictSame(changed, [], `${title}: nothing of the owner's changes`)
            t.not(inspect(own), inspect(foreign), `${title}: for the owner there is something`)
          }
        }
      })
    }
  })
}

type ScopedLine<Ids> = Extract<Line<Ids>, { reach: unknown }>
type Effect = { readonly answer: string; readonly changed: string[]; readonly all: string[] }
/** What a stranger gets for the owner's ids and for unknown ones, beside what the owner gets. */
type Seen = {
  readonly name: string
  readonly own: Effect
  readonly foreign: Effect
  readonly unknown: Effect
}

function scopedLines<Ids>(stores: Readonly<Record<string, StoreTable<Ids>>>): ScopedLine<Ids>[] {
  return Object.values(stores).flatMap(({ lines }) =>
    Object.values(lines).flatMap((line) => ('internal' in line ? [] : [line])),
  )
}

async function seenBy<Ids>(
  { reach, call }: ScopedLine<Ids>,
  { db, owner, ids, neverMade }: { db: Db; owner: TenantScope; ids: Ids; neverMade: Ids },
  seeded: Snapshot,
): Promise<Seen[]> {
  /** Answer of a call and the changes that it makes; everything is as it was afterwards. */
  const effectOf = async (scope: TenantScope, named: Ids): Promise<Effect> => {
    const answer = await answerOf(() => call(scope, named))
    const after = await snapshotOf(db)
    if (!after.equals(seeded)) await seeded.restore()
    return { answer, changed: after.changedSince(seeded), all: after.differencesFrom(seeded) }
  }
  const own = await effectOf(owner, ids)
  const seen: Seen[] = []
  for (const { name, scope } of strangersTo(owner, reach)) {
    const foreign = await effectOf(scope, ids)
    seen.push({ name, own, foreign, unknown: await effectOf(scope, neverMade) })
  }
  return seen
}

/** What the strangers get, in their order, where there is nobody else; the database is empty and stays so. */
async function seenAlone<Ids>(
  { reach, call }: ScopedLine<Ids>,
  { db, owner, ids }: { db: Db; owner: TenantScope; ids: Ids },
): Promise<string[]> {
  const answers: string[] = []
  for (const { scope } of strangersTo(owner, reach)) {
    answers.push(await answerOf(() => call(scope, ids)))
    await emptyCollections(db)
  }
  return answers
}

function strangersTo(owner: TenantScope, reach: 'environment' | 'account') {
  const { operatorId, environment } = owner
  const other: TenantScope = { operatorId, environment: environment === 'LIVE' ? 'SANDBOX' : 'LIVE' }
  return [
    { name: 'another account', scope: { operatorId: randomUUID(), environment } },
    ...(reach === 'account' ? [] : [{ name: 'the other environment', scope: other }]),
  ]
}

/** An answer, or an error's message, byte for byte. */
async function answerOf(call: () => unknown): Promise<string> {
  const text = (value: unknown) =>
    inspect(value, { depth: null, sorted: true, maxArrayLength: null, maxStringLength: null })
  try {
    return text(await call())
  } catch (error) {
    return `throws ${error instanceof Error ? `${error.name}: ${error.message}` : text(error)}`
  }
}

/** The names of all functions that the modules of a folder export. */
async function functionsOf(storage: URL): Promise<string[]> {
  const src = new URL('../', storage)
  const names: string[] = []
  for (const file of globSync('{storage,wings/*/storage}/**/*.ts', { cwd: fileURLToPath(src) })) {
    const exported: Record<string, unknown> = await import(new URL(file, src).href)
    names.push(...Object.keys(exported).filter((name) => typeof exported[name] === 'function'))
  }
  return names.toSorted()
}
