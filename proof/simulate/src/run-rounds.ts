import { createHash } from 'node:crypto'
import { seedHash } from '@pitboss/fairness/server-seed'
import { createCommitmentsStore } from '@pitboss/rounds/storage/commitments-store'
import { createLostRounds } from '@pitboss/rounds/storage/lost-rounds'
import type { RoundFact } from '@pitboss/rounds/storage/round-stream'
import { createRoundWork } from '@pitboss/rounds/storage/due-rounds'
import { openSession, wireRounds } from '@pitboss/rounds/storage/rounds-journal'
import { createRoundsStore, type RoundsStore } from '@pitboss/rounds/storage/rounds-store'
import { journalStoreWith, optionsWith } from '@pitboss/bugs/rounds-journal-bugs'
import { MongoServerError } from 'mongodb'
import type { Machine } from './machine.ts'
import type { FirstCommitment, ModelRounds } from './model-rounds.ts'
import { type ModelRunning, runModelJournal } from './run-model-journal.ts'
import type { World } from './world.ts'

export type RunRounds = ReturnType<typeof runRounds>

/** The storage of one rounds service, wired as its `open-context.ts` does, over the model's database. */
export function runRounds(machine: Machine, world: World) {
  const { rounds: model, scaleMs, has, newId } = world
  const clock = { now: machine.now }
  const [lists, work] = [model.listsOf(machine), createRoundWork()]
  const sessions = world.sessions.storeOf(machine, (session, event) => openSession(running, session, event))
  const { options, sums, dueAtOf, showUndone } = wireRounds({
    ...{ lists, sessions, work, clock, scaleMs },
    own: () => ({ journal: running.journal, rounds }),
    readInstances: () => machine.io('read instances', () => [...model.instances.table.values()]),
  })
  const running: ModelRunning<RoundFact> = runModelJournal<RoundFact>(machine, world, {
    store: journalStoreWith(model.journal.storeOf(machine), has),
    instances: model.instances.of(machine),
    work: optionsWith(options, has),
  })
  const rounds: RoundsStore = createRoundsStore({
    ...{ journal: { ...running, dueAtOf, showUndone }, lists, work },
  })
  const commitments = commitmentsOf(machine, model, { journal: running.journal, newId })
  return {
    ...{ running, rounds, sessions, work, sums, commitments },
    lost: createLostRounds({ journal: running, lists, rounds, commitments }),
  }
}

/** Seeds of the run, none of which is made twice; sealed as they are. */
export function commitmentsOf(
  machine: Machine,
  { commitments }: Pick<ModelRounds, 'commitments'>,
  { journal, newId }: { journal: ModelRunning<RoundFact>['journal']; newId: World['newId'] },
) {
  const collection = {
    async insertOne(made: FirstCommitment) {
      const isFirst = await machine.io('insert commitment', () => {
        if (commitments.has(made._id)) return false
        commitments.set(made._id, made)
        return true
      })
      if (!isFirst) throw new MongoServerError({ message: 'duplicate', code: 11_000 })
    },
    findOne: ({ _id }: FirstCommitment) => machine.io('find commitment', () => commitments.get(_id) ?? null),
  }
  return createCommitmentsStore({
    // The two commands that it uses.
    db: { collection: () => collection } as unknown as Parameters<typeof createCommitmentsStore>[0]['db'],
    secretBox: { seal: (seed) => seed, open: (seed) => seed, reseal: (seed) => seed },
    newSeed: () => createHash('sha256').update(newId('seed')).digest('hex'),
    hashSeed: seedHash,
    journal,
  })
}
