import { readFileSync } from 'node:fs'
import t from 'tap'
import { z } from 'zod'

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ optionalDependencies: z.record(z.string(), z.string()).optional() }),
  ),
})

const folders = ['../../../', '../../clients/generators/']

for (const folder of folders) {
  await t.test(
    `the lock file of ${folder} names the optional packages of every platform, without which npm ci refuses to install, and no host`,
    async (t) => {
      const text = readFileSync(new URL(`${folder}package-lock.json`, import.meta.url), 'utf8')
      const { packages } = lockSchema.parse(JSON.parse(text))
      const installed = Object.keys(packages)
      const isLocked = (name: string) => installed.some((path) => path.endsWith(`node_modules/${name}`))
      const wanted = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}))
      t.strictSame(
        wanted.filter((name) => !isLocked(name)),
        [],
      )
      t.notMatch(text, /"resolved": "http/)
    },
  )
}
