import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

// Whether a tag may be published: every public package has its version, and names the repository that publishes it, as provenance
// demands. `node packages/testing/tools/release-check.ts v1.2.3 owner/name`

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly repository?: { readonly url: string }
}

const [tag = '', repository = ''] = process.argv.slice(2)
const packages = resolve(import.meta.dirname, '../..')
const manifests = readdirSync(packages)
  .map((name): Manifest => JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')))
  .filter(manifest => !manifest.private)

const complaints = manifests.flatMap(({ name, version, repository: { url } = { url: '' } }) => [
  ...(tag === `v${version}`
    ? []
    : [`${name} has version ${version}, and the tag is "${tag}". Run \`pnpm run version\`, commit, and tag that.`]),
  ...(new URL(url || 'none:').pathname === `/${repository}.git`
    ? []
    : [`${name} names the repository "${url}", and this is "${repository}". Mend \`repository\` in its package.json.`]),
])
for (const complaint of complaints) console.error(`release-check: ${complaint}`)
if (complaints.length > 0) process.exitCode = 1
else console.log(`release-check: ${manifests.length} packages are ready for ${tag}`)
