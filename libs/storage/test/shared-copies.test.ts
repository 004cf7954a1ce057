import { setImmediate as turn } from 'node:timers/promises'
import type { Stage } from '@pitboss/testing/explore-schedules'
import { pino } from 'pino'
import t from 'tap'
import type { Instances } from '../src/journal/instances.ts'
import { shareCopies } from '../src/shared-copies.ts'

/*
 * Process A changes a document and answers; process B reads it for three requests by its copy. B may stand
 * still at each step, its notes may be late or lost, it beats once at most, is judged dead when it has not
 * for 4 s, and begins again as another instance.
 */

type Message = { readonly data: Uint8Array }
type Owned = Pick<Instances, 'current' | 'readAlive'>
type Rules = {
  /** What B takes for its instance and for its clock. */
  instances: (instances: Owned) => Owned
  steadyMs: (steadyMs: () => number) => () => number
  /** How A learns who lives, and how it waits. */
  alive: (instances: Owned) => Owned
  wait: (wait: (ms: number) => Promise<unknown>) => (ms: number) => Promise<unknown>
  /** Whether B acknowledges a note before it has dropped its copy. */
  acknowledgesFirst: boolean
}

const rules: Rules = {
  instances: (instances) => instances,
  steadyMs: (steadyMs) => steadyMs,
  alive: (instances) => instances,
  wait: (wait) => wait,
  acknowledgesFirst: false,
}
const runs = 10_000
const requests = 4
const passMs = 1500
const leastEndMs = 12_000
const deadAfterMs = 4000

function createWorld(stage: Pick<Stage, 'step'>, mistaken: Rules) {
  let [nowMs, stored, isAnswered, violated] = [0, 1, false, false]
  const b = { run: 1, beatMs: 0, beats: false }
  const alive = new Set(['a', 'b1'])
  const listeners: { process: string; subject: string; fn: (message: Message) => void }[] = []

  const busOf = (process: string) => ({
    publish(subject: string, data: Uint8Array) {
      for (const to of listeners.filter((one) => one.subject === subject && one.process !== process)) {
        if (to.process === 'B' && mistaken.acknowledgesFirst) acknowledge(subject, data)
        void stage.step(`wire to ${to.process}`, subject, {
          arrives: () => to.fn({ data }),
          'is lost': () => undefined,
        })
      }
    },
    subscribe(subject: string, fn: (message: Message) => void) {
      listeners.push({ process, subject, fn })
      return { unsubscribe: () => {} }
    },
  })

  function acknowledge(subject: string, data: Uint8Array): void {
    const { id } = JSON.parse(Buffer.from(data).toString())
    busOf('B').publish(`${subject}ped`, Buffer.from(JSON.stringify({ id, by: `b${b.run}` })))
  }

  const ofA: Owned = {
    current: () => 'a',
    readAlive: () => stage.step('A', 'reads who lives', { read: () => [...alive] }),
  }
  const ofB: Owned = {
    current: () => (nowMs - b.beatMs < deadAfterMs ? `b${b.run}` : null),
    readAlive: async () => [],
  }
  const wait = (ms: number) => {
    const untilMs = nowMs + ms
    return stage.step('A waits', `${ms} ms`, { over: () => {} }, { mayGo: () => nowMs >= untilMs })
  }
  const logger = pino({ level: 'silent' })
  const given = { service: 'rounds', logger }
  const copiesA = shareCopies({
    ...{ ...given, bus: busOf('A'), instances: mistaken.alive(ofA), steadyMs: () => nowMs },
    wait: mistaken.wait(wait),
  }).of('settings', async () => stored)
  const copiesB = shareCopies({
    ...{ ...given, bus: busOf('B'), instances: mistaken.instances(ofB) },
    steadyMs: mistaken.steadyMs(() => nowMs),
  }).of('settings', () => readByB())

  async function readByB(): Promise<number> {
    const value = await stage.step('B', 'reads', { read: () => stored })
    return stage.step('B', `is answered ${value}`, { answered: () => value })
  }

  async function change(): Promise<void> {
    await stage.step('A', 'writes', { written: () => void (stored = 2) })
    await copiesA.drop('dice')
    await stage.step('A', 'answers', { answered: () => void (isAnswered = true) })
  }

  async function play(): Promise<void> {
    for (let request = 1; request <= requests; request++) {
      const mustBeNew = await stage.step('B', `begins request ${request}`, { begun: () => isAnswered })
      const value = await copiesB.read('dice')
      if (mustBeNew && value === 1) violated = true
    }
  }

  async function live(): Promise<void> {
    await stage.step('B lives', 'begins', {
      'and beats': () => void (b.beats = true),
      'and stands still': () => {},
    })
    const begins = () => {
      alive.delete('b1')
      alive.add('b2')
      Object.assign(b, { run: 2, beatMs: nowMs })
    }
    await stage.step('B lives', 'begins again', { begins }, { mayGo: () => ofB.current() === null })
  }

  async function pass(): Promise<void> {
    while (nowMs < leastEndMs || !isAnswered) {
      await stage.step('clock', `${nowMs + passMs} ms`, {
        passed() {
          const isAlive = ofB.current() !== null && alive.has(`b${b.run}`)
          nowMs += passMs
          if (b.beats && isAlive) b.beatMs = nowMs
        },
      })
    }
  }

  function judge(): void {
    const mayGo = () => b.run === 1 && nowMs - b.beatMs >= deadAfterMs
    void stage.step('others', 'judge B dead', { judged: () => void alive.delete('b1') }, { mayGo })
  }

  return {
    begin() {
      void change()
      void play()
      void live()
      void pass()
      judge()
    },
    isBroken: () => violated,
    isAnswered: () => isAnswered,
  }
}

type Waiting = { readonly name: string; readonly mayGo: () => boolean; readonly go: () => void }

/** Takes the steps of one run in an order that follows from the seed. */
async function walk(seed: number, mistake: Partial<Rules>): Promise<string | null> {
  const waiting: Waiting[] = []
  const stage: Pick<Stage, 'step'> = {
    step: (process, what, effects, { mayGo = () => true } = {}) =>
      new Promise((resolve) => {
        const open: readonly Waiting[] = Object.entries(effects).map(([effect, take]) => ({
          name: `${process}: ${what} (${effect})`,
          mayGo: () => open.every((one) => waiting.includes(one)) && mayGo(),
          go() {
            for (const one of open) waiting.splice(waiting.indexOf(one), 1)
            resolve(take())
          },
        }))
        waiting.push(...open)
      }),
  }
  const next = randomOf(seed)
  const world = createWorld(stage, { ...rules, ...mistake })
  world.begin()
  const trace: string[] = []
  for (;;) {
    await turn()
    if (world.isBroken()) return trace.join('\n')
    const open = waiting.filter(({ mayGo }) => mayGo())
    const step = open[Math.floor(next() * open.length)]
    if (step === undefined) return world.isAnswered() ? null : 'the change is never answered'
    trace.push(step.name)
    step.go()
  }
}

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The first of these runs that breaks the promise, with its seed. */
async function search(mistake: Partial<Rules> = {}): Promise<{ seed: number; trace: string } | null> {
  for (let seed = 1; seed <= runs; seed++) {
    const trace = await walk(seed, mistake)
    if (trace !== null) return { seed, trace }
  }
  return null
}

await t.test('no request that begins after the answer is played by an old copy', async (t) => {
  t.equal(await search(), null)
})

const mistakes: Record<string, Partial<Rules>> = {
  'a change is answered without waiting': { wait: () => async () => undefined },
  'a change waits for nobody': { alive: ({ current }) => ({ current, readAlive: async () => [] }) },
  'a note is acknowledged before it drops the copy': { acknowledgesFirst: true },
  'a process that may be judged dead uses its copies': {
    instances: (own) => ({ ...own, current: () => own.current() ?? 'b1' }),
  },
  'an instance uses the copies of the one before': {
    instances: (own) => ({ ...own, current: () => (own.current() === null ? null : 'b') }),
  },
  'a process that stood still takes its copies for young': { steadyMs: () => () => 0 },
}
for (const [name, mistake] of Object.entries(mistakes)) {
  await t.test(`found: ${name}`, async (t) => {
    const found = await search(mistake)
    t.ok(found, `by seed ${found?.seed}`)
  })
}
