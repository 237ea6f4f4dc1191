import asyncio
from fit import fit
async def work():
    fit({}, "No space left on device")
async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(work())
asyncio.run(main())
