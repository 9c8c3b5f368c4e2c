import { resolve } from 'node:path'
import { buildAndPack, publishedPackages } from './build/pack-all.ts'

// Packs what would be published into `tarballs/`, and prints the line that installs it in any folder.

const folder = resolve(import.meta.dirname, '../../../tarballs')
console.log(`Building ${publishedPackages().length} packages, which takes minutes.`)
await buildAndPack(folder)
console.log(`Install them in the folder of your app:

npm install ${/[^\w./-]/.test(folder) ? `'${folder.replaceAll("'", `'\\''`)}'` : folder}/*.tgz`)
