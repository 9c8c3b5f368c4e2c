/** The bytes that owners of items hold. An owner is a workspace, or an end user of one, as in `["ws_1","user:u_42"]`. */
export interface OwnerSizes {
  /** A negative `more` releases. */
  add(owner: string, more: number): void
  /** Marks the items of the owner as just used. */
  use(owner: string): void
  /**
   * The owner that loses an item if there is no room for another of `asking`: of a workspace that holds at least half as much as any other,
   * and in it one that holds at least half as much as any other owner there. Where several do, `asking` itself, or the one whose items were
   * not used for longest. Undefined if there are no items.
   */
  largest(asking: string): string | undefined
}

/** The workspace of an owner. `workspaceOfOwner('["ws_1","user:u_42"]') // 'ws_1'` */
export function workspaceOfOwner(owner: string): string {
  if (!owner.startsWith('[')) return owner
  try {
    const [workspaceId]: unknown[] = JSON.parse(owner)
    return typeof workspaceId === 'string' ? workspaceId : owner
  } catch {
    return owner
  }
}

/** Counts bytes by workspace and by owner, so that what one workspace keeps cannot remove what a smaller one does. */
export function createOwnerSizes(): OwnerSizes {
  const workspaces = createLevels()
  const ownersOf = new Map<string, Levels>()
  return {
    add(owner, more) {
      const workspaceId = workspaceOfOwner(owner)
      const owners = ownersOf.get(workspaceId) ?? createLevels()
      workspaces.add(workspaceId, more)
      owners.add(owner, more)
      if (workspaces.has(workspaceId)) ownersOf.set(workspaceId, owners)
      else ownersOf.delete(workspaceId)
    },
    use(owner) {
      const workspaceId = workspaceOfOwner(owner)
      workspaces.use(workspaceId)
      ownersOf.get(workspaceId)?.use(owner)
    },
    largest(asking) {
      const workspaceId = workspaces.largest(workspaceOfOwner(asking))
      return workspaceId === undefined ? undefined : ownersOf.get(workspaceId)?.largest(asking)
    },
  }
}

type Levels = ReturnType<typeof createLevels>

/** Sizes by name. Names whose sizes have the same power of two are on one level, so that one of the largest is found without a search. */
function createLevels() {
  const sizes = new Map<string, number>()
  const levels: Set<string>[] = []
  const levelOf = (name: string): number => {
    const size = sizes.get(name)
    return size === undefined ? -1 : Math.floor(Math.log2(size))
  }
  return {
    has: (name: string): boolean => sizes.has(name),
    add(name: string, more: number): void {
      const before = levelOf(name)
      const size = (sizes.get(name) ?? 0) + more
      if (size > 0) sizes.set(name, size)
      else sizes.delete(name)
      const level = levelOf(name)
      if (level === before) return
      levels[before]?.delete(name)
      if (level < 0) return
      const names = levels[level] ?? new Set()
      levels[level] = names.add(name)
    },
    use(name: string): void {
      const names = levels[levelOf(name)]
      if (names?.delete(name)) names.add(name)
    },
    largest(asking: string): string | undefined {
      const names = levels.findLast(each => each !== undefined && each.size > 0)
      return names?.has(asking) ? asking : names?.values().next().value
    },
  }
}
