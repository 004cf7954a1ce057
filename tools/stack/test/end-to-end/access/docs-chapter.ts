import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import type { AccessWorld } from './access-world.ts'

const page = fileURLToPath(new URL('../../../../../docs/access.md', import.meta.url))
const run = promisify(execFile)

/** The commands of the page for operators' engineers, pasted one after the other into one shell. */
export async function docsChapter(t: Test, { stack }: AccessWorld): Promise<void> {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block)
  const script = blocks.join('\n')
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], {
    env: { ...process.env, PITBOSS_DATA_DIR: stack.dataDir },
    maxBuffer: 16 * 1024 * 1024,
  })
  const promised = [...script.matchAll(/# \d{3} ([A-Z_]+)$/gm)].map(([, code]) => code)
  const answered = [...stdout.matchAll(/"code":"([A-Z_]+)","message"/g)].map(([, code]) => code)
  t.ok(promised.length > 5)
  t.strictSame(answered, promised, 'each refusal that the page shows comes, and no other')
  t.match(stdout, /"slug":"dice"/)
  t.match(stdout, /"latency_ms":\d/)
}
