import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'
import { build, type InlineConfig, type Plugin } from 'vite'

const web = fileURLToPath(new URL('./', import.meta.url))
const project = fileURLToPath(new URL('../', import.meta.url))

const compress = promisify(brotliCompress)
const compressFromBytes = 1024

type Part = { name: string; base: string; pages: string[]; view?: 'preact' | 'react' }

/**
 * One chunk for what is shared, so that it runs in the order of the imports: settings before schemas. What
 * computes rounds, addresses or paces, and what draws charts, comes with the page that does it.
 */
const shared = {
  name: 'shared',
  test: /node_modules(?!\/(?:@noble|uplot|ipaddr\.js|preact))|\/libs\/(?!fairness|money|contracts\/src\/(?:address-range|delivery-pace))|no-eval/,
}

/** Each part is served below its own path and is built into a folder of its own, `dist/<part>`. */
const parts: readonly Part[] = [
  { name: 'play', base: '/play/', pages: ['dice', 'mines', 'spin-bottle', 'index'] },
  { name: 'verify', base: '/v1/public/verify/', pages: ['index'] },
  { name: 'dashboard', base: '/dashboard/', pages: ['index'], view: 'react' },
]

/** The files of the project that the pages were built from, each with its digest. */
const sources: Record<string, string> = {}

for (const part of parts) {
  await build(configOf(part))
  await compressFiles(`${web}dist/${part.name}`)
}
// Style sheets that others import are no modules of the builder.
for (const folder of ['src/', 'dashboard/']) {
  const names = await readdir(`${web}${folder}`, { recursive: true })
  await note(names.filter((name) => name.endsWith('.css')).map((name) => join(web, folder, name)))
}
await writeFile(`${web}dist/sources.json`, `${JSON.stringify(sources, null, 2)}\n`)

/** Puts the brotli form beside each file that the gateway compresses; it serves that to who takes it. */
async function compressFiles(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true })
  for (const name of names.filter((one) => /\.(html|js|css|svg)$/.test(one))) {
    const data = await readFile(join(folder, name))
    if (data.length >= compressFromBytes) await writeFile(join(folder, `${name}.br`), await compress(data))
  }
}

async function note(files: readonly string[]): Promise<void> {
  for (const file of files) {
    const name = relative(project, file).replaceAll('\\', '/')
    sources[name] = createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
  }
}

/** Notes what a part is built from, so that `npm start` can tell when its pages are older than that. */
function noteSources(): Plugin {
  return {
    name: 'note-sources',
    async buildEnd() {
      const files = [...this.getModuleIds()].map((id) => id.split('?')[0] ?? id)
      await note(files.filter((file) => file.startsWith(project) && !file.includes('/node_modules/')))
    },
  }
}

/**
 * Scripts and styles in files of their own, nothing inline: the pages are served under a strict content
 * security policy.
 */
function configOf({ name, base, pages, view = 'preact' }: Part): InlineConfig {
  return {
    root: `${web}${name}`,
    base,
    configFile: false,
    envDir: false,
    plugins: [noteSources()],
    publicDir: false,
    logLevel: 'warn',
    // Whatever the shell of the builder says.
    define: { 'process.env.NODE_ENV': JSON.stringify('production') },
    oxc: { jsx: { runtime: 'automatic', importSource: view } },
    // The tests' reporter brings an older React, which is not the one of the pages.
    resolve: { dedupe: ['react', 'react-dom'] },
    build: {
      outDir: `${web}dist/${name}`,
      emptyOutDir: true,
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: {
        input: pages.map((page) => `${web}${name}/${page}.html`),
        // "use client" of libraries means nothing without a server that renders.
        checks: { moduleLevelDirective: false },
        ...(view === 'react' ? { output: { codeSplitting: { groups: [shared] } } } : {}),
      },
    },
  }
}
