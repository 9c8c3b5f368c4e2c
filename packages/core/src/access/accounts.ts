/** The ledger account that holds a workspace's prepaid credit. */
export const creditAccount = (workspaceId: string): string => `credit:${workspaceId}`
