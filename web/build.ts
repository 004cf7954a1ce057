import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'
import { build, type InlineConfig } from 'vite'

const web = fileURLToPath(new URL('./', import.meta.url))

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

for (const part of parts) {
  await build(configOf(part))
  await compressFiles(`${web}dist/${part.name}`)
}

/** Puts the brotli form beside each file that the gateway compresses; it serves that to who takes it. */
async function compressFiles(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true })
  for (const name of names.filter((one) => /\.(html|js|css|svg)$/.test(one))) {
    const data = await readFile(join(folder, name))
    if (data.length >= compressFromBytes) await writeFile(join(folder, `${name}.br`), await compress(data))
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
