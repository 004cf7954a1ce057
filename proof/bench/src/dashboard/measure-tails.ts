import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { DemoFile } from '@pitboss/stack/demo-file'
import { Agent, request } from 'undici'
import { workloads } from '../compare/workloads.ts'
import type { Measured } from '../harness/measured.ts'
import { renderTable } from '../harness/table.ts'
import type { DashboardWorld } from './dashboard-world.ts'

const tails = 2000
/** Opened at once, so that no listener's queue of new connections overflows. */
const openedAtOnce = 50
const playMs = 20_000
/** Between two rounds: a person at a page plays like this. */
const pauseMs = 1000
const goalMb = 300
const kbPerMb = 1024

/** 2,000 open tails of events at one gateway, with a player whose rounds they are told. */
export async function measureTails({ http, token, demo, cleanup, say }: DashboardWorld): Promise<Measured> {
  const pid = gatewayOf(demo)
  const before = residentMb(pid)
  const agent = new Agent({ connections: tails, bodyTimeout: 0 })
  cleanup.add(() => agent.destroy())
  let records = 0
  let ended = 0
  const open = async () => {
    const url = `${demo.base_url}/v1/dashboard/stream?environment=TEST&kinds=events`
    const { statusCode, body } = await request(url, {
      dispatcher: agent,
      headers: { authorization: `Bearer ${token}` },
    })
    if (statusCode !== 200) throw new Error(`a tail was answered ${statusCode}: ${await body.text()}`)
    body.on('data', (chunk: Buffer) => {
      records += chunk.toString('latin1').split('event: events').length - 1
    })
    body.on('error', () => undefined)
    body.once('close', () => (ended += 1))
  }
  say(`opening ${tails} tails`)
  for (let count = 0; count < tails; count += openedAtOnce)
    await Promise.all(Array.from({ length: openedAtOnce }, open))
  const opened = residentMb(pid)
  say('playing one round after the other')
  const play = await workloads.round(http, demo)
  const untilMs = performance.now() + playMs
  let rounds = 0
  let most = opened
  while (performance.now() < untilMs) {
    await play(0)
    rounds += 1
    most = Math.max(most, residentMb(pid))
    await delay(pauseMs)
  }
  const result = { tails, before, opened, most, rounds, records, ended }
  const cells = [before, opened, most].map((mb) => mb.toFixed(0))
  return {
    result,
    text: `${tails} open tails of one gateway, ${rounds} rounds, ${records} records told, ${ended} tails ended\n
${renderTable(['', 'before', 'opened', 'most while told'], [['resident memory, MB', ...cells]])}

at most ${goalMb} MB: ${most <= goalMb && ended === 0 && records >= tails ? 'holds' : 'TOO MUCH'}`,
  }
}

function gatewayOf({ processes }: DemoFile): number {
  const pid = processes.find(({ name }) => name === 'gateway')?.pid
  if (typeof pid !== 'number') throw new Error('there is no gateway')
  return pid
}

/** Linux only. */
function residentMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kb) / kbPerMb
}
